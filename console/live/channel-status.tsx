import type { LiveChannel } from '@eyrie/contract/console-api'
import '../ui/status.css'

type StatusFields = Pick<LiveChannel, 'status' | 'source'>

/** The status of a channel as a coloured dot and a word. A lost source takes precedence over other states. */
export function ChannelStatus({ channel: { status, source } }: { channel: StatusFields }) {
  const isLost = source.attempts !== undefined
  return <span class={`status ${isLost ? 'lost' : status}`}>{isLost ? 'source lost' : status}</span>
}

/** Describes the problem of a channel, with the number of attempts if its source is lost. */
export function describeProblem({
  reason,
  source,
}: Pick<LiveChannel, 'reason' | 'source'>): string | undefined {
  const { attempts, next_try_s: seconds } = source
  if (attempts === undefined) return reason
  const next = seconds === undefined ? 'retrying now' : `next attempt in ${seconds} s`
  return [`attempt ${attempts} failed, ${next}`, ...(reason ? [reason] : [])].join(': ')
}
