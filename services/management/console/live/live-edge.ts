/** Where playback is, in seconds of media time. */
export interface Playback {
  position: number
  /** Buffered ranges in order. */
  ranges: readonly (readonly [start: number, end: number])[]
  /** Wanted distance from the end of the buffer, just after a frame was added to it. */
  targetDelay: number
}

export type Correction = { seekTo: number } | { rate: number }

/** Further behind than this beyond the target, playback jumps instead of hurrying. */
const JUMP_S = 1
/** So much above the target nothing is corrected: arrival itself is not steadier. Below it boxes come late. */
const DEADBAND_S = 0.06
/** Change of the rate for a second of error, and how far it may leave 1 without being seen. */
const GAIN = 0.5
const MAX_RATE_CHANGE = 0.1
/** So near to the end of a range, playback stands at a gap. */
const STALLED_S = 0.05

/** How to stay at the live edge: undefined while nothing is buffered. */
export function keepAtEdge({ position, ranges, targetDelay }: Playback): Correction | undefined {
  const last = ranges.at(-1)
  if (!last) return undefined
  const [start, end] = last
  const edge = Math.max(start, end - targetDelay)
  const delay = end - position
  if (delay > targetDelay + JUMP_S || standsBefore(start, position, ranges)) return { seekTo: edge }
  if (delay >= targetDelay && delay <= targetDelay + DEADBAND_S) return { rate: 1 }
  const error = delay - targetDelay - DEADBAND_S / 2
  const change = Math.max(-MAX_RATE_CHANGE, Math.min(MAX_RATE_CHANGE, error * GAIN))
  return { rate: 1 + Math.round(change * 100) / 100 }
}

/** Whether playback cannot reach the last range by itself: no range leads from here to there. */
function standsBefore(start: number, position: number, ranges: Playback['ranges']): boolean {
  if (position >= start) return false
  const current = ranges.find(([from, to]) => from <= position && position <= to)
  return !current || current[1] - position < STALLED_S
}

/** Even where metadata is prompt, this much in ms evens out the arrival of fragments. */
const LEAST_SLACK_MS = 80
const MARGIN_MS = 20
const MOST_MS = 2_000

/**
 * The delay in seconds at which a frame's metadata is there when the frame is shown. A frame that was just added is
 * shown `delay - frame` later, so this must cover what metadata needs, and the jitter of the network.
 */
export function targetDelay(frameMs: number, metadataP95Ms: number): number {
  return Math.min(MOST_MS, frameMs + Math.max(LEAST_SLACK_MS, metadataP95Ms + MARGIN_MS)) / 1000
}
