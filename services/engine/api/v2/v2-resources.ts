import type {
  Pipeline,
  PipelineInput,
  PipelineInputV2,
  PipelineV2,
  Source,
  SourceInput,
  SourceInputV2,
  SourceV2,
} from '@eyrie/contract'
import { pipelineInput, sourceInput } from '@eyrie/contract'
import type { Resources } from '../../configuration/resources.ts'
import type { ServedResources } from '../operations/resource-operations.ts'
import type { LongForms } from '../operations/short-form.ts'
import { showPipeline, showSource } from './v2-representations.ts'

interface Translation<Stored, Input, Shown, Given> {
  show(stored: Stored): Shown
  /** A body as revision C would send it; what the earlier revision cannot say stays as it is stored. */
  take(given: Given, stored: Stored | undefined): Input
  takePatch(patch: object): object
}

/** Resources as an earlier revision sees them. */
function translated<Stored extends { id: number }, Input, Shown extends { id: number }, Given>(
  resources: Resources<Stored, Input>,
  { show, take, takePatch }: Translation<Stored, Input, Shown, Given>,
): ServedResources<Shown, Given> {
  const shown = ({ value, etag }: { value: Stored; etag: string }) => ({ value: show(value), etag })
  return {
    list: () => {
      const { value, etag } = resources.list()
      return { value: value.map(show), etag }
    },
    get: id => shown(resources.get(id)),
    create: async (given, ifMatch, override) =>
      shown(await resources.create(take(given, undefined), ifMatch, override)),
    update: async (id, given, ifMatch, override) =>
      shown(await resources.updateFrom(id, stored => take(given, stored), ifMatch, override)),
    modify: async (id, patch, ifMatch, override) =>
      shown(await resources.modify(id, takePatch(patch), ifMatch, override)),
    remove: resources.remove,
  }
}

export function earlierSources(sources: Resources<Source, SourceInput>) {
  return translated<Source, SourceInput, SourceV2, SourceInputV2>(sources, {
    show: showSource,
    take: (given, stored) => ({
      ...given,
      decoder: sourceInput.shape.decoder.parse(stored?.decoder),
      ...(stored?.recording && { recording: stored.recording }),
    }),
    takePatch: patch => patch,
  })
}

export function earlierPipelines(pipelines: Resources<Pipeline, PipelineInput>, longForms: LongForms) {
  return translated<Pipeline, PipelineInput, PipelineV2, PipelineInputV2>(pipelines, {
    show: showPipeline,
    take: (given, stored) => ({
      ...given,
      elements: longForms(given.elements, '/elements'),
      priority: pipelineInput.shape.priority.parse(stored?.priority),
    }),
    takePatch: patch => {
      const { elements, ...rest } = patch as Partial<PipelineInputV2>
      return elements ? { ...rest, elements: longForms(elements, '/elements') } : rest
    },
  })
}
