import { type Pacing, toAddressObject } from '@eyrie/contract'
import type { ChannelPlan, Plan } from '../plan/plan.ts'
import type { ConfigurationState } from './configuration-state.ts'

/**
 * Returns the plan that the runtime executes. `pacing` applies to files; other
 * sources run in real time.
 */
export function toPlan(state: ConfigurationState, pacing: Pacing): Plan {
  const ended = new Set(state.ended)
  return {
    sources: state.sources.map(({ id, type, address, decoder, rate, recording }) => ({
      id,
      type,
      address: toAddressObject(address),
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
    channels: listConnectedChannels(state),
  }
}

/**
 * Creates a channel for each new connection of a source to a pipeline, and deletes the channels of
 * deleted sources and pipelines.
 */
export function assignChannelIds(state: ConfigurationState): ConfigurationState {
  const sources = new Set(state.sources.map(source => source.id))
  const pipelines = new Set(state.pipelines.map(pipeline => pipeline.id))
  const channels = state.channels.filter(
    ({ source, pipeline }) => sources.has(source) && pipelines.has(pipeline),
  )
  const existing = new Set(channels.map(toConnectionKey))
  const added = listConnections(state).filter(
    connection => !existing.has(toConnectionKey(connection)),
  )
  const firstId = state.next.channel
  return {
    ...state,
    next: { ...state.next, channel: firstId + added.length },
    channels: [
      ...channels,
      ...added.map((connection, index) => ({ id: firstId + index, ...connection })),
    ],
  }
}

/**
 * Lists the channels whose source and pipeline are connected. Channels of earlier
 * connections are only stored.
 */
export function listConnectedChannels(state: ConfigurationState): ChannelPlan[] {
  const connected = new Set(listConnections(state).map(toConnectionKey))
  return state.channels.filter(channel => connected.has(toConnectionKey(channel)))
}

/** A source and a pipeline that are connected. */
type Connection = Omit<ChannelPlan, 'id'>

const toConnectionKey = ({ source, pipeline }: Connection) => `${source},${pipeline}`

function listConnections(state: ConfigurationState): Connection[] {
  return state.pipelines.flatMap(({ id, sources }) =>
    sources.map(source => ({ source, pipeline: id })),
  )
}
