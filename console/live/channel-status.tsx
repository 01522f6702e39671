import type { LiveChannel } from '@eyrie/contract/console-api'
import '../ui/status.css'

type StatusFields = Pick<LiveChannel, 'status' | 'source'>

/**
 * The status of a channel, as a coloured dot and a word. A lost or unreachable source is shown in
 * place of any other status.
 */
export function ChannelStatus({ channel: { status, source } }: { channel: StatusFields }) {
  const isLost = source.attempts !== undefined
  if (isLost) {
    return (
      <span class="status lost">{source.never_connected ? 'not connected' : 'source lost'}</span>
    )
  }
  return <span class={`status ${status}`}>{status}</span>
}

/**
 * Describes the problem of a channel, with the failed attempts to reach a lost source. Undefined if
 * there is no problem.
 */
export function describeProblem({
  reason,
  source,
}: Pick<LiveChannel, 'reason' | 'source'>): string | undefined {
  const { attempts, next_try_s: seconds } = source
  if (attempts === undefined) return reason
  const next = seconds === undefined ? 'retrying now' : `next attempt in ${seconds} s`
  const progress = `attempt ${attempts} failed, ${next}`
  return reason ? `${progress}: ${reason}` : progress
}

/** Returns the setting of the camera that improves the live view; undefined if none is known. */
export function describeAdvice({ source }: Pick<LiveChannel, 'source'>): string | undefined {
  if (!source.b_frames) return undefined
  return 'This camera sends B-frames, which WebRTC cannot carry, so the live view has more delay. Set the number of B-frames to 0 in the camera, or its H.264 profile to Baseline.'
}
