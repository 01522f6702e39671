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

/** Maximum number of ids in an error message. */
const MAX_LISTED_IDS = 20

/**
 * Defines how pipelines are stored, validated and removed. A pipeline runs its elements, such as a
 * detector, on the frames of its sources.
 */
export function createPipelineDefinition(
  catalog: Catalog,
): ResourceDefinition<Pipeline, PipelineInput> {
  return {
    name: 'pipeline',
    input: pipelineInput,
    list: state => state.pipelines,
    replaceList: (state, pipelines) => ({ ...state, pipelines }),
    toStored: async (input, _stored, state) => {
      const sources = new Set(state.sources.map(source => source.id))
      const sinks = new Set(state.sinks.map(sink => sink.id))
      checkElements(input.elements, catalog, '/elements', listSourceIds(sources))
      assertAllExist('sources', input.sources, sources)
      assertAllExist('sinks', input.sinks, sinks)
      return input
    },
    afterEdit: state => {
      assertNoFeedbackLoop(state, () => '/sinks')
      return state
    },
    assertNotConnected: (state, id) => {
      const { sources, sinks } = state.pipelines.find(pipeline => pipeline.id === id)!
      if (sources.length + sinks.length === 0) return
      throw new EyrieError(
        'reference',
        `pipeline ${id} is connected to sources or sinks: disconnect them, or add ?force=true`,
        { value: { sources, sinks } },
      )
    },
    remove: (state, id) => ({
      ...state,
      pipelines: state.pipelines.filter(pipeline => pipeline.id !== id),
    }),
    redact: pipeline => pipeline,
  }
}

/**
 * The sources to which the config of an element may refer. Its keys are lists of sources, such as
 * `1,2`. In a stored config, the numbers are ids of sources; in a deployment, they are positions.
 */
export interface ConfigSources {
  has(source: number): boolean
  /** Describes the valid keys in error messages. */
  description: string
}

/** Returns the sources to which a stored config may refer. */
export function listSourceIds(ids: ReadonlySet<number>): ConfigSources {
  const listed = [...ids].slice(0, MAX_LISTED_IDS).join(', ')
  const more = ids.size > MAX_LISTED_IDS ? ', …' : ''
  const description =
    ids.size === 0
      ? 'there are no sources yet'
      : `the keys of this config are ids of sources: ${listed}${more}`
  return { has: source => ids.has(source), description }
}

/**
 * Throws `EyrieError` (`syntax`) if the catalog rejects an element or a config refers to an unknown
 * source. `path` is the JSON pointer to the elements.
 */
export function checkElements(
  elements: PipelineElement[],
  catalog: Catalog,
  path: string,
  sources: ConfigSources,
): void {
  for (const [index, element] of elements.entries()) {
    catalog.checkElement(element, `${path}/${index}`)
  }
  const assertExists = (source: number, sourcePath: string) => {
    if (sources.has(source)) return source
    throw syntaxError(sourcePath, `source ${source} does not exist: ${sources.description}`)
  }
  // Called only for its errors: each source is mapped to itself, and the result is not used.
  mapSourceKeys(elements, catalog, assertExists, path)
}

/** Throws `EyrieError` (`id`) if sources or sinks do not exist. */
function assertAllExist(kind: 'sources' | 'sinks', ids: number[], existing: Set<number>): void {
  const missing = ids.filter(id => !existing.has(id))
  if (missing.length > 0) {
    throw new EyrieError('id', `unknown ${kind}: ${missing.join(', ')}`, {
      value: { [kind]: missing },
    })
  }
}
