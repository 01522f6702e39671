import type { LiveChannel } from '@eyrie/contract/console-api'
import './status.css'

/** A channel's status as a coloured dot with its word. What is without pictures is told from what is slow. */
export function Status({ of: { status, source } }: { of: Pick<LiveChannel, 'status' | 'source'> }) {
  const isLost = source.attempts !== undefined
  return <span class={`status ${isLost ? 'lost' : status}`}>{isLost ? 'source lost' : status}</span>
}
