// Keeps live playback at a target delay behind the live edge, the position of the newest frame.
// Small deviations are corrected by the playback rate, large ones by a seek.

/** The state of playback, in seconds of media time. */
export interface PlaybackState {
  position: number
  /** Buffered ranges in ascending order. */
  ranges: readonly (readonly [start: number, end: number])[]
  /** Position of the newest frame. */
  liveEdge: number
  /** Desired distance from the live edge, measured right after a frame was added. */
  targetDelay: number
  /** Expected duration of a seek, during which the browser decodes from the last keyframe. */
  seekDuration?: number
  /** Whether sound is playing, so that changes of the playback rate must be inaudible. */
  withSound?: boolean
}

export type PlaybackCorrection = { seekTo: number } | { playbackRate: number }

/** Beyond this deviation from the target delay, playback seeks instead of speeding up. */
const MAX_DEVIATION_S = 1
/**
 * Tolerated delay above the target, for arrival jitter. Below the target nothing is tolerated:
 * metadata would be late.
 */
const TOLERANCE_S = 0.06
/** Rate while playback is out of frames. It is invisible until the next frame arrives. */
const STARVED_RATE = 0.5
/**
 * Rate for large deviations if seeks are slow: a seek would not help, because the stream advances
 * while the browser seeks.
 */
const CATCH_UP_RATE = 1.5
/** Change of the playback rate per second of deviation. */
const GAIN = 0.5
const MAX_RATE_CHANGE = 0.1
const MAX_AUDIBLE_RATE_CHANGE = 0.03
/** Playback that is closer than this to the end of a range is stalled at the gap behind it. */
const STALLED_S = 0.05
/**
 * Absorbs jitter in the arrival of fragments. A lower delay is not useful, even if
 * metadata arrives sooner.
 */
const MIN_DELAY_MS = 80
/** Cameras send sound in chunks of up to 125 ms, and every gap is audible. */
const MIN_AUDIBLE_DELAY_MS = 300
/** Added to the measured delay of metadata. */
const METADATA_MARGIN_MS = 20
const MAX_DELAY_MS = 2_000

/**
 * Returns the correction that brings playback to its target delay; undefined while
 * nothing is buffered.
 */
export function correctPlayback(state: PlaybackState): PlaybackCorrection | undefined {
  const { position, ranges, liveEdge, targetDelay, seekDuration = 0, withSound = false } = state
  const lastRange = ranges.at(-1)
  if (!lastRange) return undefined
  const [lastStart] = lastRange
  const delay = liveEdge - position
  const deviation = delay - targetDelay

  const isTooLate = deviation > MAX_DEVIATION_S + 2 * seekDuration
  const isTooEarly = delay < -MAX_DEVIATION_S
  if (isTooLate || isTooEarly || isStalledBefore(lastStart, position, ranges)) {
    return { seekTo: Math.max(lastStart, liveEdge - targetDelay) }
  }

  // With sound, the browser pauses by itself when it runs out of frames.
  if (delay < 0) return { playbackRate: withSound ? 1 : STARVED_RATE }
  if (deviation > MAX_DEVIATION_S) return { playbackRate: CATCH_UP_RATE }
  if (deviation >= 0 && deviation <= TOLERANCE_S) return { playbackRate: 1 }

  // Aim at the middle of the tolerated range.
  const maxChange = withSound ? MAX_AUDIBLE_RATE_CHANGE : MAX_RATE_CHANGE
  const change = clamp((deviation - TOLERANCE_S / 2) * GAIN, -maxChange, maxChange)
  return { playbackRate: 1 + Math.round(change * 100) / 100 }
}

const clamp = (value: number, min: number, max: number) => Math.max(min, Math.min(max, value))

/**
 * Whether playback cannot reach `start` by itself, because it is at the end of a range
 * or outside all ranges.
 */
function isStalledBefore(
  start: number,
  position: number,
  ranges: PlaybackState['ranges'],
): boolean {
  if (position >= start) return false
  const currentRange = ranges.find(([from, to]) => from <= position && position <= to)
  if (!currentRange) return true
  const [, end] = currentRange
  return end - position < STALLED_S
}

export interface ExpectedDelay {
  /** 95th percentile of the time after which the metadata of a frame arrives. */
  metadataP95Ms: number
  /** Whether sound is playing, so that playback must not run out of frames. */
  withSound?: boolean
}

/**
 * Returns the live delay in seconds at which the metadata of a frame arrives before the frame is
 * shown.
 */
export function calculateTargetDelay({ metadataP95Ms, withSound = false }: ExpectedDelay): number {
  const minMs = withSound ? MIN_AUDIBLE_DELAY_MS : MIN_DELAY_MS
  return clamp(metadataP95Ms + METADATA_MARGIN_MS, minMs, MAX_DELAY_MS) / 1000
}
