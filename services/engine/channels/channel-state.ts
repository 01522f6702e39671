import type { SourceStatus } from '@eyrie/contract/media'
import type { PipelineStatus } from '@eyrie/contract/pipeline'

/** The state of a channel or pipeline, with a reason unless it speaks for itself. */
export interface StateReport {
  state: PipelineStatus
  reason?: string
  /** The channel receives nothing from its source. */
  lost?: true
}

/** Everything that determines the state of a channel. */
export interface ChannelConditions {
  /** Why an element, or a view that it reads, failed. */
  elementFailure: string | undefined
  /** Why media is disconnected. */
  mediaOutage: string | undefined
  source: SourceStatus | undefined
  /** At least one frame has been analysed. */
  hasAnalysed: boolean
  /** Frames are waiting or being analysed. */
  isBusy: boolean
  /** Frames are dropped for lack of capacity. */
  isOverloaded: boolean
  /** Pipelines of higher priority use the missing capacity. */
  isYielding: boolean
  /** Why a sink loses records. */
  sinkFailure: string | undefined
}

const OVERLOADED = 'frames are dropped: the machine has less capacity than is asked of it'
const YIELDING = `${OVERLOADED}, and pipelines of higher priority go first`

export function deriveChannelState(conditions: ChannelConditions): StateReport {
  const { elementFailure, mediaOutage, source, hasAnalysed, isBusy, isOverloaded, isYielding, sinkFailure } =
    conditions
  if (source?.state === 'ended' && !isBusy)
    return { state: 'stopped', reason: source.reason ?? 'the file has ended' }
  if (elementFailure) return { state: 'failed', reason: elementFailure }
  if (mediaOutage && hasAnalysed) return { state: 'degraded', reason: mediaOutage, lost: true }
  if (mediaOutage) return { state: 'starting', reason: mediaOutage }
  if (source?.state === 'failed') return { state: 'failed', reason: source.reason }
  if (source?.state === 'reconnecting') return { state: 'degraded', reason: source.reason, lost: true }
  // A channel that is overloaded from the start may never analyse a frame: it is degraded, not starting.
  if (!hasAnalysed && !isOverloaded) return { state: 'starting', reason: source?.reason }
  if (sinkFailure) return { state: 'degraded', reason: sinkFailure }
  if (source?.loss) return { state: 'degraded', reason: source.reason }
  if (isOverloaded) return { state: 'degraded', reason: isYielding ? YIELDING : OVERLOADED }
  return { state: 'running' }
}

/** If the channels of a pipeline differ, the first of these states among them determines the pipeline's. */
const PRECEDENCE: PipelineStatus[] = ['failed', 'degraded', 'starting', 'running', 'stopped']

/** A pipeline with both failed and working channels is degraded; the reason names the source. */
export function derivePipelineState(channels: readonly (StateReport & { source: number })[]): StateReport {
  if (channels.length === 0) return { state: 'idle', reason: 'no source is connected' }
  const precedence = (channel: StateReport) => PRECEDENCE.indexOf(channel.state)
  const decisive = channels.reduce((best, channel) =>
    precedence(channel) < precedence(best) ? channel : best,
  )
  const { state, source, reason } = decisive
  if (channels.every(channel => channel.state === state)) return { state, reason }
  return {
    state: state === 'failed' ? 'degraded' : state,
    reason: reason && `source ${source}: ${reason}`,
  }
}
