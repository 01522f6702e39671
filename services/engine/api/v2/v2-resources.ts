import type {
  CatalogModel,
  CatalogModelV2,
  Channel,
  ChannelProperties,
  Pipeline,
  PipelineInput,
  PipelineInputV2,
  PipelineV2,
  Platform,
  Source,
  SourceInput,
  SourceInputV2,
  SourceV2,
} from '@eyrie/contract'
import { pipelineInput, sourceInput } from '@eyrie/contract'
import type { Resources } from '../../configuration/resources.ts'
import type { ServedResources } from '../operations/resource-operations.ts'
import type { ExpandElements } from '../operations/short-form.ts'

/**
 * The sources, sinks and pipelines of v1 and v2, the older revisions of the API. Resources are
 * stored as in v3, and translated in both directions.
 */

/** Sources of v1 and v2 have no `decoder` and no `recording`. */
export function toV2Source({
  decoder: _decoder,
  recording: _recording,
  ...source
}: Source): SourceV2 {
  return source
}

/** Pipelines of v1 and v2 have no `priority`. */
export function toV2Pipeline({ priority: _priority, ...pipeline }: Pipeline): PipelineV2 {
  return pipeline
}

/**
 * Channels of v1 and v2 refer to their stream only by its id; null if the channel has no stream.
 */
export const toStreamId = (stream: Channel['stream']) => stream?.id ?? null

export function toV2Channel({ stream, ...channel }: Channel) {
  return { ...channel, stream: toStreamId(stream) }
}

export function toV2Properties({ stream, ...properties }: ChannelProperties) {
  return stream === undefined ? properties : { ...properties, stream: toStreamId(stream) }
}

/**
 * Returns each model once for each platform (`CPU`, `GPU`) that can run it. v3 lists it once for
 * each type of device.
 */
export function toV2Models(models: CatalogModel[]): CatalogModelV2[] {
  const modelsByName = Map.groupBy(models, ({ name }) => name)
  return [...modelsByName].flatMap(([name, variants]) => {
    const platforms = new Set(variants.map(({ hw }): Platform => (hw === 'cpu' ? 'CPU' : 'GPU')))
    return [...platforms].map(platform => ({ name, platform }))
  })
}

/** Translates one kind of resource between v2 and v3. */
interface Translation<Stored, Input, V2, V2Input> {
  toV2(stored: Stored): V2
  /** Returns the v3 input for a v2 body. Fields that v2 lacks keep their stored values. */
  toInput(body: V2Input, stored?: Stored): Input
  /** Returns the JSON merge patch for v3. Fields are validated after the patch has been applied. */
  toPatch(patch: V2Patch): object
}

/** A JSON merge patch of a v2 resource. Only the elements of a pipeline differ from v3. */
type V2Patch = Partial<Pick<PipelineInputV2, 'elements'>>

/** Sources in the representation of v1 and v2, which have no `decoder` and no `recording`. */
export function createV2Sources(
  sources: Resources<Source, SourceInput>,
): ServedResources<SourceV2, SourceInputV2> {
  return translateResources(sources, {
    toV2: toV2Source,
    toInput: (body: SourceInputV2, stored) => ({
      ...body,
      // For a new source, `parse` returns the default.
      decoder: sourceInput.shape.decoder.parse(stored?.decoder),
      ...(stored?.recording && { recording: stored.recording }),
    }),
    toPatch: patch => patch,
  })
}

/**
 * Pipelines in the representation of v1 and v2, which have no `priority` and accept
 * elements in short form.
 */
export function createV2Pipelines(
  pipelines: Resources<Pipeline, PipelineInput>,
  expandElements: ExpandElements,
): ServedResources<PipelineV2, PipelineInputV2> {
  return translateResources(pipelines, {
    toV2: toV2Pipeline,
    toInput: (body: PipelineInputV2, stored) => ({
      ...body,
      elements: expandElements(body.elements, '/elements'),
      priority: pipelineInput.shape.priority.parse(stored?.priority),
    }),
    toPatch: ({ elements, ...otherFields }) =>
      elements ? { ...otherFields, elements: expandElements(elements, '/elements') } : otherFields,
  })
}

/** Wraps the v3 operations on one kind of resource, so that they accept and return v2. */
function translateResources<
  Stored extends { id: number },
  Input,
  V2 extends { id: number },
  V2Input,
>(
  resources: Resources<Stored, Input>,
  { toV2, toInput, toPatch }: Translation<Stored, Input, V2, V2Input>,
): ServedResources<V2, V2Input> {
  const toTaggedV2 = ({ value, etag }: { value: Stored; etag: string }) => ({
    value: toV2(value),
    etag,
  })

  return {
    list: () => {
      const { value, etag } = resources.list()
      return { value: value.map(toV2), etag }
    },
    get: id => toTaggedV2(resources.get(id)),
    create: async (body, options) => toTaggedV2(await resources.create(toInput(body), options)),
    update: async (id, body, options) =>
      toTaggedV2(await resources.updateFrom(id, stored => toInput(body, stored), options)),
    modify: async (id, patch, options) =>
      toTaggedV2(await resources.modify(id, toPatch(patch), options)),
    remove: resources.remove,
  }
}
