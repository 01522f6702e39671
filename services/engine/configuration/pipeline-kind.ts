import {
  EyrieError,
  type Pipeline,
  type PipelineElement,
  type PipelineInput,
  pipelineInput,
} from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'
import type { Catalog } from '../catalog/catalog.ts'
import { requireNoOwnResults } from './checks/sink-conflicts.ts'
import { renameSources } from './checks/source-keys.ts'
import type { Kind } from './resources.ts'

export function pipelineKind(catalog: Catalog): Kind<Pipeline, PipelineInput> {
  return {
    name: 'pipeline',
    input: pipelineInput,
    read: state => state.pipelines,
    write: (state, pipelines) => ({ ...state, pipelines }),
    settle: async (input, _, state) => {
      const sources = new Set(state.sources.map(source => source.id))
      checkElements(input.elements, catalog, '/elements', source => sources.has(source))
      requireKnown('sources', input.sources, sources)
      requireKnown('sinks', input.sinks, new Set(state.sinks.map(sink => sink.id)))
      return input
    },
    edited: state => {
      requireNoOwnResults(state, () => '/sinks')
      return state
    },
    remove: (state, id, force) => {
      const { sources, sinks } = state.pipelines.find(pipeline => pipeline.id === id)!
      if (sources.length + sinks.length > 0 && !force)
        throw new EyrieError(
          'reference',
          `pipeline ${id} is connected to sources or sinks: disconnect them, or add ?force=true`,
          { value: { sources, sinks } },
        )
      return { ...state, pipelines: state.pipelines.filter(pipeline => pipeline.id !== id) }
    },
    show: pipeline => pipeline,
  }
}

/** Throws EyrieError `syntax` unless the catalog can make these elements and their configs name sources that exist. */
export function checkElements(
  elements: PipelineElement[],
  catalog: Catalog,
  at: string,
  exists: (source: number) => boolean,
): void {
  for (const [index, element] of elements.entries()) catalog.check(element, `${at}/${index}`)
  const requireKnownSource = (source: number, place: string) => {
    if (!exists(source)) throw syntaxError(place, `there is no source ${source}`)
    return source
  }
  renameSources(elements, catalog, requireKnownSource, at)
}

function requireKnown(kind: 'sources' | 'sinks', ids: number[], known: Set<number>): void {
  const missing = ids.filter(id => !known.has(id))
  if (missing.length > 0)
    throw new EyrieError('id', `there are no ${kind} ${missing.join(', ')}`, { value: { [kind]: missing } })
}
