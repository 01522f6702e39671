import type {
  CatalogModel,
  CatalogModelV2,
  Channel,
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

export const toV2Source = ({ decoder: _, recording: __, ...source }: Source): SourceV2 => source

export const toV2Pipeline = ({ priority: _, ...pipeline }: Pipeline): PipelineV2 => pipeline

export const toStreamId = (stream: Channel['stream']) => stream?.id ?? null

/** Lists a model once for each platform (`CPU`, `GPU`) that can run it. */
export function toV2Models(models: CatalogModel[]): CatalogModelV2[] {
  const modelsByName = Map.groupBy(models, ({ name }) => name)
  return [...modelsByName].flatMap(([name, variants]) => {
    const platforms = new Set(variants.map(({ hw }): Platform => (hw === 'cpu' ? 'CPU' : 'GPU')))
    return [...platforms].map(platform => ({ name, platform }))
  })
}

interface Translation<Stored, Input, V2, V2Input> {
  toV2(stored: Stored): V2
  /** The v3 input for a v2 body. Fields that v2 lacks keep their stored values. */
  fromV2(input: V2Input, stored: Stored | undefined): Input
  fromV2Patch(patch: object): object
}

/** Sources as v1 and v2 represent them: without `decoder` and `recording`. */
export function createV2Sources(sources: Resources<Source, SourceInput>) {
  return translateResources<Source, SourceInput, SourceV2, SourceInputV2>(sources, {
    toV2: toV2Source,
    fromV2: (input, stored) => ({
      ...input,
      decoder: sourceInput.shape.decoder.parse(stored?.decoder),
      ...(stored?.recording && { recording: stored.recording }),
    }),
    fromV2Patch: patch => patch,
  })
}

/** Pipelines as v1 and v2 represent them: without `priority`; elements may be in short form. */
export function createV2Pipelines(
  pipelines: Resources<Pipeline, PipelineInput>,
  expandElements: ExpandElements,
) {
  return translateResources<Pipeline, PipelineInput, PipelineV2, PipelineInputV2>(pipelines, {
    toV2: toV2Pipeline,
    fromV2: (input, stored) => ({
      ...input,
      elements: expandElements(input.elements, '/elements'),
      priority: pipelineInput.shape.priority.parse(stored?.priority),
    }),
    fromV2Patch: patch => {
      const { elements, ...rest } = patch as Partial<PipelineInputV2>
      return elements ? { ...rest, elements: expandElements(elements, '/elements') } : rest
    },
  })
}

function translateResources<Stored extends { id: number }, Input, V2 extends { id: number }, V2Input>(
  resources: Resources<Stored, Input>,
  { toV2, fromV2, fromV2Patch }: Translation<Stored, Input, V2, V2Input>,
): ServedResources<V2, V2Input> {
  const toTaggedV2 = ({ value, etag }: { value: Stored; etag: string }) => ({ value: toV2(value), etag })
  return {
    list: () => {
      const { value, etag } = resources.list()
      return { value: value.map(toV2), etag }
    },
    get: id => toTaggedV2(resources.get(id)),
    create: async (input, ifMatch, override) =>
      toTaggedV2(await resources.create(fromV2(input, undefined), ifMatch, override)),
    update: async (id, input, ifMatch, override) =>
      toTaggedV2(await resources.updateFrom(id, stored => fromV2(input, stored), ifMatch, override)),
    modify: async (id, patch, ifMatch, override) =>
      toTaggedV2(await resources.modify(id, fromV2Patch(patch), ifMatch, override)),
    remove: resources.remove,
  }
}
