import type { ChannelPlan } from '../plan/plan.ts'
import type { State } from './state.ts'

/** The state with an id for every connected pair of source and pipeline; pairs of which one is gone are forgotten. */
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
