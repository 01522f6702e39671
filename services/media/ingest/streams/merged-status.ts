import type { SourceStatus } from '@eyrie/contract'
import type { StreamName } from './stream-addresses.ts'

/** The statuses of the two streams of a source. */
type Statuses = Readonly<Record<StreamName, SourceStatus>>

const isLost = ({ state }: SourceStatus) => state === 'reconnecting' || state === 'failed'

/**
 * Returns the stream to analyse: the sub stream, or the main stream if the sub stream is lost and
 * the main stream runs. Otherwise, the current one remains.
 */
export function selectAnalysed({ main, sub }: Statuses, current: StreamName): StreamName {
  if (sub.state === 'running') return 'sub'
  if (isLost(sub) && main.state === 'running') return 'main'
  return current
}

/**
 * Returns the status of the source. The analysed stream determines the state, the connection
 * attempts, the decoder, the clock and the packet loss. All other fields, such as size, frame rate
 * and codec, are those of the main stream. If a stream is lost, the reason explains what follows
 * from it.
 */
export function mergeStatus(statuses: Statuses, analysed: StreamName): SourceStatus {
  const { main, sub } = statuses
  const { state, attempts, next_try_at, decoder, clock, loss } = statuses[analysed]
  return {
    ...main,
    state,
    reason: explainStatus(statuses, analysed),
    attempts,
    next_try_at,
    decoder,
    clock,
    loss,
    sub: {
      analysed: analysed === 'sub',
      state: sub.state,
      reason: sub.reason,
      width: sub.width,
      height: sub.height,
      fps: sub.fps,
      codec: sub.codec,
    },
  }
}

/** Returns the reason for the status, which every lost stream has; undefined if there is none. */
function explainStatus({ main, sub }: Statuses, analysed: StreamName): string | undefined {
  if (isLost(main) && isLost(sub)) return `${main.reason}; sub stream: ${sub.reason}`
  if (isLost(sub)) return `the sub stream is lost, so the main stream is analysed: ${sub.reason}`
  if (isLost(main)) {
    return `the main stream is lost, so full live views and recordings are interrupted: ${main.reason}`
  }

  // No stream is lost, but one may run with a problem.
  if (analysed === 'main') return main.reason
  return sub.reason ?? main.reason
}
