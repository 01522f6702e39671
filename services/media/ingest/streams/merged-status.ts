import type { SourceStatus } from '@eyrie/contract'
import type { StreamName } from './stream-addresses.ts'

/** The statuses of the two streams of a source. */
type Statuses = Readonly<Record<StreamName, SourceStatus>>

const isLost = ({ state }: SourceStatus) => state === 'reconnecting' || state === 'failed'

/** Returns the stream to analyse: the sub stream, or the main stream while the sub stream is lost and the main stream is not. */
export function selectAnalysed({ main, sub }: Statuses, current: StreamName): StreamName {
  if (sub.state === 'running') return 'sub'
  if (main.state === 'running') return isLost(sub) || current === 'main' ? 'main' : 'sub'
  return current
}

/**
 * Returns the status of the source. Size, frame rate and codec are those of the main stream. The source runs while the analysed
 * stream runs; the reason says if the other stream is lost, and the consequences.
 */
export function mergeStatus(statuses: Statuses, analysed: StreamName): SourceStatus {
  const { main, sub } = statuses
  const { state, attempts, next_try_at, decoder, clock, loss } = statuses[analysed]
  return {
    ...main,
    state,
    reason: findReason(statuses, analysed),
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

function findReason({ main, sub }: Statuses, analysed: StreamName): string | undefined {
  if (isLost(main) && isLost(sub)) return `${main.reason}; sub stream: ${sub.reason}`
  if (isLost(sub)) return `the sub stream is lost, so the main stream is analysed: ${sub.reason}`
  if (isLost(main))
    return `the main stream is lost, so full live views and recordings are interrupted: ${main.reason}`
  return analysed === 'sub' ? (sub.reason ?? main.reason) : main.reason
}
