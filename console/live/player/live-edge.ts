/** Where playback is, in seconds of media time. */
export interface Playback {
  position: number
  /** Buffered ranges in order. */
  ranges: readonly (readonly [start: number, end: number])[]
  /** Where the newest frame is. */
  edge: number
  /** Wanted distance from the edge, just after a frame was added. */
  targetDelay: number
  /** What a jump costs, in seconds: time in which decoding gets from the last keyframe to the edge. */
  jumpCost?: number
  /** Somebody listens: a change of speed is heard sooner than it is seen. */
  audible?: boolean
}

export type Correction = { seekTo: number } | { rate: number }

/** Further behind than this beyond the target, playback jumps instead of hurrying. */
const JUMP_S = 1
/** So much above the target nothing is corrected: arrival itself is not steadier. Below it boxes come late. */
const DEADBAND_S = 0.06
/** There is nothing to be shown before the next frame comes, so nobody sees how slowly time goes by. */
const STARVED_RATE = 0.5
/** Where jumping would take so long that it leads to the next jump, playback hurries, however that looks. */
const HURRY_RATE = 1.5
/** Change of the rate for a second of error, and how far it may leave 1 without being seen. */
const GAIN = 0.5
const MAX_RATE_CHANGE = 0.1
/** The same where it is heard, too. */
const MAX_AUDIBLE_RATE_CHANGE = 0.03
/** So near to the end of a range, playback stands at a gap. */
const STALLED_S = 0.05

/** How to stay at the live edge: undefined while nothing is buffered. */
export function keepAtEdge(playback: Playback): Correction | undefined {
  const { position, ranges, edge, targetDelay, jumpCost = 0, audible = false } = playback
  const last = ranges.at(-1)
  if (!last) return undefined
  const delay = edge - position
  const error = delay - targetDelay
  if (error > JUMP_S + 2 * jumpCost || delay < -JUMP_S || standsBefore(last[0], position, ranges))
    return { seekTo: Math.max(last[0], edge - targetDelay) }
  // Sound that has come to its end waits by itself for more.
  if (delay < 0) return { rate: audible ? 1 : STARVED_RATE }
  if (error > JUMP_S) return { rate: HURRY_RATE }
  if (error >= 0 && error <= DEADBAND_S) return { rate: 1 }
  const change = (error - DEADBAND_S / 2) * GAIN
  return {
    rate: 1 + Math.round(clamp(change, audible ? MAX_AUDIBLE_RATE_CHANGE : MAX_RATE_CHANGE) * 100) / 100,
  }
}

const clamp = (value: number, most: number) => Math.max(-most, Math.min(most, value))

/** Whether playback cannot reach the last range by itself: no range leads from here to there. */
function standsBefore(start: number, position: number, ranges: Playback['ranges']): boolean {
  if (position >= start) return false
  const current = ranges.find(([from, to]) => from <= position && position <= to)
  return !current || current[1] - position < STALLED_S
}

/** Even where metadata is prompt, this much in ms evens out the arrival of fragments. */
const LEAST_SLACK_MS = 80
/** Cameras send sound an eighth of a second at a time, and a gap in it is heard. */
const LEAST_AUDIBLE_SLACK_MS = 300
const MARGIN_MS = 20
const MOST_MS = 2_000

/**
 * The delay in seconds at which a frame's metadata is there when the frame is shown: what metadata needs, and the jitter
 * of the network.
 */
export function targetDelay(metadataP95Ms: number, audible = false): number {
  const least = audible ? LEAST_AUDIBLE_SLACK_MS : LEAST_SLACK_MS
  return Math.min(MOST_MS, Math.max(least, metadataP95Ms + MARGIN_MS)) / 1000
}
