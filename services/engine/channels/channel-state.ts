import type { SourceStatus } from '@eyrie/contract/media'
import type { PipelineStatus } from '@eyrie/contract/pipeline'

/** A state and, where it is not plain, why. */
export interface State {
  state: PipelineStatus
  reason?: string
  /** Nothing of the channel's source comes. */
  lost?: true
}

/** What a channel's state follows from. */
export interface ChannelFacts {
  /** Why an element, or a view that it reads, does not work. */
  failure: string | undefined
  /** Why media is away. */
  absence: string | undefined
  source: SourceStatus | undefined
  /** Whether a frame has been analysed yet. */
  begun: boolean
  /** Whether frames are still on their way through the channel. */
  busy: boolean
  /** Whether frames are dropped for want of capacity. */
  lacking: boolean
  /** Whether pipelines of higher priority are why. */
  yielding: boolean
  /** Why a sink loses what it is given. */
  sinkFailure: string | undefined
}

export function channelState(facts: ChannelFacts): State {
  const { failure, absence, source, begun, busy, lacking, yielding, sinkFailure } = facts
  if (source?.state === 'ended' && !busy)
    return { state: 'stopped', reason: source.reason ?? 'the file has ended' }
  if (failure) return { state: 'failed', reason: failure }
  if (absence)
    return begun ? { state: 'degraded', reason: absence, lost: true } : { state: 'starting', reason: absence }
  if (source?.state === 'failed') return { state: 'failed', reason: source.reason }
  if (source?.state === 'reconnecting') return { state: 'degraded', reason: source.reason, lost: true }
  // One that never gets a turn does not start: it lacks the capacity to.
  if (!begun && !lacking) return { state: 'starting', reason: source?.reason }
  if (sinkFailure) return { state: 'degraded', reason: sinkFailure }
  if (source?.loss) return { state: 'degraded', reason: source.reason }
  if (lacking) return { state: 'degraded', reason: yielding ? givesWay : tooSlow }
  return { state: 'running' }
}

const tooSlow = 'frames are dropped: the machine has less capacity than is asked of it'
const givesWay = `${tooSlow}, and pipelines of higher priority go first`

/** A pipeline is as well as its channels are together. */
export function pipelineState(channels: readonly (State & { source: number })[]): State {
  const [first] = channels
  if (!first) return { state: 'idle', reason: 'no source is connected' }
  const worst =
    order.map(state => channels.find(channel => channel.state === state)).find(found => found) ?? first
  const { state, source, reason } = worst
  if (channels.every(channel => channel.state === state)) return { state, reason }
  const partly = state === 'failed' ? 'degraded' : state
  return { state: partly, reason: reason && `source ${source}: ${reason}` }
}

/** Which channel's state speaks for a pipeline whose channels differ. */
const order: PipelineStatus[] = ['failed', 'degraded', 'starting', 'running', 'stopped']
