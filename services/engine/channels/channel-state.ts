import type { SourceStatus } from '@eyrie/contract/media'
import type { PipelineStatus } from '@eyrie/contract/pipeline'

/**
 * The state of a channel or pipeline. The states `running` and, usually, `starting` need no reason.
 */
export interface StateReport {
  state: PipelineStatus
  reason?: string
  /** The channel receives no frames, because its source or the media service is disconnected. */
  lost?: true
}

/** The conditions that determine the state of a channel. */
export interface ChannelConditions {
  /** Why an element failed, or why the pictures that it reads cannot be provided. */
  elementFailure: string | undefined
  /** Why the media service is unreachable. */
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

const OVERLOADED = 'frames are dropped: the machine is too slow for all of its channels'
const YIELDING = `${OVERLOADED}, and pipelines of higher priority are served first`
/**
 * If the states of a pipeline's channels differ, the first of these states determines the
 * state of the pipeline.
 */
const PRECEDENCE: PipelineStatus[] = ['failed', 'degraded', 'starting', 'running', 'stopped']

/**
 * Derives the state of a channel. If several conditions hold, the first one in the order of the
 * code determines the state.
 */
export function deriveChannelState(conditions: ChannelConditions): StateReport {
  const { elementFailure, mediaOutage, source, sinkFailure } = conditions
  const { hasAnalysed, isBusy, isOverloaded, isYielding } = conditions

  if (source?.state === 'ended' && !isBusy) {
    return { state: 'stopped', reason: source.reason ?? 'the file has ended' }
  }

  if (elementFailure) return { state: 'failed', reason: elementFailure }
  if (mediaOutage && hasAnalysed) return { state: 'degraded', reason: mediaOutage, lost: true }
  if (mediaOutage) return { state: 'starting', reason: mediaOutage }
  if (source?.state === 'failed') return { state: 'failed', reason: source.reason }
  if (source?.state === 'reconnecting') {
    return { state: 'degraded', reason: source.reason, lost: true }
  }

  // A channel that is overloaded from the start may never analyse a frame: it is
  // degraded, not starting.
  if (!hasAnalysed && !isOverloaded) return { state: 'starting', reason: source?.reason }

  if (sinkFailure) return { state: 'degraded', reason: sinkFailure }
  if (source?.loss) return { state: 'degraded', reason: source.reason }
  if (isOverloaded) return { state: 'degraded', reason: isYielding ? YIELDING : OVERLOADED }
  return { state: 'running' }
}

/**
 * Derives the state of a pipeline from the states of its channels. If they differ, the reason names
 * the source. A pipeline with some failed channels is degraded.
 */
export function derivePipelineState(
  channels: readonly (StateReport & { source: number })[],
): StateReport {
  const byPrecedence = [...channels].sort(
    (a, b) => PRECEDENCE.indexOf(a.state) - PRECEDENCE.indexOf(b.state),
  )
  const [decisive] = byPrecedence
  if (!decisive) return { state: 'idle', reason: 'no source is connected' }
  const { state, source, reason } = decisive
  const areStatesEqual = channels.every(channel => channel.state === state)
  if (areStatesEqual) return { state, reason }
  return {
    state: state === 'failed' ? 'degraded' : state,
    reason: reason && `source ${source}: ${reason}`,
  }
}
