import { type Source, type SourceInput, sourceInput } from '@eyrie/contract'
import type { Catalog } from '../catalog/catalog.ts'
import { hideSecrets, restoreSecrets } from './checks/address-secrets.ts'
import { checkSourceAddress, type Roots } from './checks/addresses.ts'
import { assertNoFeedbackLoop } from './checks/sink-conflicts.ts'
import { mapSourceKeys } from './checks/source-keys.ts'
import type { ConfigurationState } from './configuration-state.ts'
import { assertNotConnected } from './pipeline-connections.ts'
import type { ResourceDefinition } from './resources.ts'

/**
 * Defines how sources are stored, validated and removed. A source provides the video
 * that pipelines analyse.
 */
export function createSourceDefinition(
  roots: Roots,
  catalog: Catalog,
): ResourceDefinition<Source, SourceInput> {
  return {
    name: 'source',
    input: sourceInput,
    list: state => state.sources,
    replaceList: (state, sources) => ({ ...state, sources }),
    toStored: async (input, stored) => {
      await checkSourceAddress(input, '/address', roots)
      return { ...input, address: restoreSecrets(input.address, stored?.address, '/address') }
    },
    afterEdit: (state, id) => {
      assertNoFeedbackLoop(state, () => '/address')
      return clearEnded(state, id)
    },
    assertNotConnected: (state, id) => assertNotConnected(state, 'sources', id),
    remove: (state, id) => removeSource(clearEnded(state, id), id, catalog),
    redact: hideSecrets,
  }
}

/** Forgets that a file was played to its end. If it still is a source, it is played again. */
function clearEnded(state: ConfigurationState, id: number): ConfigurationState {
  return { ...state, ended: state.ended.filter(endedId => endedId !== id) }
}

/**
 * Removes a source and all references to it. A sink that accepts only this source is disconnected
 * from its pipelines, because its filter becomes empty: it would then accept all sources.
 */
function removeSource(state: ConfigurationState, id: number, catalog: Catalog): ConfigurationState {
  const isOther = (sourceId: number) => sourceId !== id
  const unlessRemoved = (sourceId: number) => (isOther(sourceId) ? sourceId : undefined)
  const uselessSinks = state.sinks
    .filter(({ filter }) => filter.length > 0 && !filter.some(isOther))
    .map(sink => sink.id)

  return {
    ...state,
    sources: state.sources.filter(source => isOther(source.id)),
    sinks: state.sinks.map(sink => ({ ...sink, filter: sink.filter.filter(isOther) })),
    pipelines: state.pipelines.map(pipeline => ({
      ...pipeline,
      elements: mapSourceKeys(pipeline.elements, catalog, unlessRemoved),
      sources: pipeline.sources.filter(isOther),
      sinks: pipeline.sinks.filter(sinkId => !uselessSinks.includes(sinkId)),
    })),
  }
}
