import type { Pacing } from '@eyrie/contract'
import type { Plan } from '../plan/plan.ts'
import { connectedChannels } from './channels.ts'
import type { State } from './state.ts'

/** What the runtime shall do for a configuration. `pacing` is for files; cameras and loops run in real time. */
export function planOf(state: State, pacing: Pacing): Plan {
  const ended = new Set(state.ended)
  return {
    sources: state.sources.map(({ id, type, address, decoder, rate, recording }) => ({
      id,
      type,
      address: typeof address === 'string' ? { url: address } : address,
      decoder,
      rate,
      recording,
      pacing: type === 'file' ? pacing : 'realtime',
      ended: ended.has(id),
    })),
    pipelines: state.pipelines.map(({ id, elements, priority, sinks }) => ({
      id,
      elements,
      priority,
      sinks,
    })),
    sinks: state.sinks,
    channels: connectedChannels(state),
  }
}
