import { type Source, type SourceInput, sourceInput } from '@eyrie/contract'
import type { Catalog } from '../catalog/catalog.ts'
import { hideSecrets, keepSecrets } from './checks/address-secrets.ts'
import { checkSourceAddress, type Roots } from './checks/addresses.ts'
import { requireNoOwnResults } from './checks/sink-conflicts.ts'
import { renameSources } from './checks/source-keys.ts'
import type { State } from './configuration-state.ts'
import { requireUnconnected } from './pipeline-connections.ts'
import type { Kind } from './resources.ts'

export function sourceKind(roots: Roots, catalog: Catalog): Kind<Source, SourceInput> {
  return {
    name: 'source',
    input: sourceInput,
    read: state => state.sources,
    write: (state, sources) => ({ ...state, sources }),
    settle: async (input, stored) => {
      await checkSourceAddress(input.type, input.address, '/address', roots)
      return { ...input, address: keepSecrets(input.address, stored?.address, '/address') }
    },
    edited: (state, id) => {
      requireNoOwnResults(state, () => '/address')
      return playAgain(state, id)
    },
    remove: (state, id, force) => {
      if (!force) requireUnconnected(state, 'sources', id)
      return forget(playAgain(state, id), id, catalog)
    },
    show: hideSecrets,
  }
}

/** A file that had ended is played again once it has been edited. */
const playAgain = (state: State, id: number): State => ({
  ...state,
  ended: state.ended.filter(source => source !== id),
})

/** Takes a source out of everything that names it. A filter that named only this source must not come to mean all. */
function forget(state: State, id: number, catalog: Catalog): State {
  const others = (source: number) => source !== id
  const idle = state.sinks
    .filter(sink => sink.filter.length > 0 && !sink.filter.some(others))
    .map(sink => sink.id)
  return {
    ...state,
    sources: state.sources.filter(source => source.id !== id),
    sinks: state.sinks.map(sink => ({ ...sink, filter: sink.filter.filter(others) })),
    pipelines: state.pipelines.map(pipeline => ({
      ...pipeline,
      elements: renameSources(pipeline.elements, catalog, source => (others(source) ? source : undefined)),
      sources: pipeline.sources.filter(others),
      sinks: pipeline.sinks.filter(sink => !idle.includes(sink)),
    })),
  }
}
