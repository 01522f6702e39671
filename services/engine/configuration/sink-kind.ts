import { type Sink, type SinkInput, sinkInput } from '@eyrie/contract'
import { hideSecrets, keepSecrets } from './checks/address-secrets.ts'
import { checkSinkAddress, type Roots } from './checks/addresses.ts'
import { requireDistinctSinks, requireNoOwnResults } from './checks/sink-conflicts.ts'
import { requireUnconnected } from './pipeline-connections.ts'
import type { Kind } from './resources.ts'

export function sinkKind(roots: Roots): Kind<Sink, SinkInput> {
  return {
    name: 'sink',
    input: sinkInput,
    read: state => state.sinks,
    write: (state, sinks) => ({ ...state, sinks }),
    settle: async (input, stored, state) => {
      await checkSinkAddress(input.type, input.address, '/address', roots)
      const id = stored?.id ?? state.next.sink
      const others = state.sinks.filter(sink => sink.id !== id)
      requireDistinctSinks([...others, { id, ...input }], () => '/address')
      return { ...input, address: keepSecrets(input.address, stored?.address, '/address') }
    },
    edited: state => {
      requireNoOwnResults(state, () => '/address')
      return state
    },
    remove: (state, id, force) => {
      if (!force) requireUnconnected(state, 'sinks', id)
      return {
        ...state,
        sinks: state.sinks.filter(sink => sink.id !== id),
        pipelines: state.pipelines.map(pipeline => ({
          ...pipeline,
          sinks: pipeline.sinks.filter(sink => sink !== id),
        })),
      }
    },
    show: hideSecrets,
  }
}
