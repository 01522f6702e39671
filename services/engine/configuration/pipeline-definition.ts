import {
  EyrieError,
  type Pipeline,
  type PipelineElement,
  type PipelineInput,
  pipelineInput,
} from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'
import type { Catalog } from '../catalog/catalog.ts'
import { assertNoFeedbackLoop } from './checks/sink-conflicts.ts'
import { mapSourceKeys } from './checks/source-keys.ts'
import type { ResourceDefinition } from './resources.ts'

export function createPipelineDefinition(catalog: Catalog): ResourceDefinition<Pipeline, PipelineInput> {
  return {
    name: 'pipeline',
    input: pipelineInput,
    list: state => state.pipelines,
    replaceList: (state, pipelines) => ({ ...state, pipelines }),
    toStored: async (input, _, state) => {
      const sources = new Set(state.sources.map(source => source.id))
      const sinks = new Set(state.sinks.map(sink => sink.id))
      checkElements(input.elements, catalog, '/elements', source => sources.has(source))
      assertExist('sources', input.sources, sources)
      assertExist('sinks', input.sinks, sinks)
      return input
    },
    afterEdit: state => {
      assertNoFeedbackLoop(state, () => '/sinks')
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
    redact: pipeline => pipeline,
  }
}

/** Throws `EyrieError` (`syntax`) if the catalog rejects an element or a config refers to an unknown source. */
export function checkElements(
  elements: PipelineElement[],
  catalog: Catalog,
  path: string,
  isSource: (source: number) => boolean,
): void {
  for (const [index, element] of elements.entries()) catalog.checkElement(element, `${path}/${index}`)
  const assertSource = (source: number, sourcePath: string) => {
    if (!isSource(source)) throw syntaxError(sourcePath, `source ${source} does not exist`)
    return source
  }
  mapSourceKeys(elements, catalog, assertSource, path)
}

function assertExist(kind: 'sources' | 'sinks', ids: number[], existing: Set<number>): void {
  const missing = ids.filter(id => !existing.has(id))
  if (missing.length > 0)
    throw new EyrieError('id', `unknown ${kind}: ${missing.join(', ')}`, { value: { [kind]: missing } })
}
