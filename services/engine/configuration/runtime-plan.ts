import type { Pacing } from '@eyrie/contract'
import type { ChannelPlan, Plan } from '../plan/plan.ts'
import type { State } from './configuration-state.ts'

/** The plan of the runtime for a configuration. `pacing` applies to files; cameras and loops run in real time. */
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

/** Gives an id to every connected pair of source and pipeline, and drops pairs whose source or pipeline was deleted. */
export function withChannels(state: State): State {
  const sources = new Set(state.sources.map(source => source.id))
  const pipelines = new Set(state.pipelines.map(pipeline => pipeline.id))
  const channels = state.channels.filter(
    ({ source, pipeline }) => sources.has(source) && pipelines.has(pipeline),
  )
  const known = new Set(channels.map(pairKey))
  const fresh = pairs(state).filter(pair => !known.has(pairKey(pair)))
  const first = state.next.channel
  return {
    ...state,
    next: { ...state.next, channel: first + fresh.length },
    channels: [...channels, ...fresh.map((pair, index) => ({ id: first + index, ...pair }))],
  }
}

/** The channels that are connected now. */
export function connectedChannels(state: State): ChannelPlan[] {
  const connected = new Set(pairs(state).map(pairKey))
  return state.channels.filter(channel => connected.has(pairKey(channel)))
}

type Pair = Omit<ChannelPlan, 'id'>

const pairKey = ({ source, pipeline }: Pair) => `${source},${pipeline}`

function pairs(state: State): Pair[] {
  return state.pipelines.flatMap(({ id, sources }) => sources.map(source => ({ source, pipeline: id })))
}
