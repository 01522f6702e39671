import { type Sink, type SinkInput, sinkInput } from '@eyrie/contract'
import { hideSecrets, restoreSecrets } from './checks/address-secrets.ts'
import { checkSinkAddress, type Roots } from './checks/addresses.ts'
import { assertDistinctSinkTargets, assertNoFeedbackLoop } from './checks/sink-conflicts.ts'
import { assertNotConnected } from './pipeline-connections.ts'
import type { ResourceDefinition } from './resources.ts'

/**
 * Defines how sinks, which write the results of pipelines to files and other targets, are
 * validated and removed.
 */
export function createSinkDefinition(roots: Roots): ResourceDefinition<Sink, SinkInput> {
  return {
    name: 'sink',
    input: sinkInput,
    list: state => state.sinks,
    replaceList: (state, sinks) => ({ ...state, sinks }),
    toStored: async (input, stored, state) => {
      await checkSinkAddress(input, '/address', roots)
      const id = stored?.id ?? state.next.sink
      const others = state.sinks.filter(sink => sink.id !== id)
      assertDistinctSinkTargets([...others, { id, ...input }], () => '/address')
      return { ...input, address: restoreSecrets(input.address, stored?.address, '/address') }
    },
    afterEdit: state => {
      assertNoFeedbackLoop(state, () => '/address')
      return state
    },
    assertNotConnected: (state, id) => assertNotConnected(state, 'sinks', id),
    remove: (state, id) => ({
      ...state,
      sinks: state.sinks.filter(sink => sink.id !== id),
      pipelines: state.pipelines.map(pipeline => ({
        ...pipeline,
        sinks: pipeline.sinks.filter(sink => sink !== id),
      })),
    }),
    redact: hideSecrets,
  }
}
