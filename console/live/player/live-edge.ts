/** The state of playback, in seconds of media time. */
export interface PlaybackState {
  position: number
  /** Buffered ranges in ascending order. */
  ranges: readonly (readonly [start: number, end: number])[]
  /** Position of the newest frame. */
  liveEdge: number
  /** Desired distance from the live edge right after a frame was added. */
  targetDelay: number
  /** Duration of a seek, in which the browser decodes from the last keyframe. */
  seekDuration?: number
  /** Sound is playing: changes of the playback rate must stay inaudible. */
  audible?: boolean
}

export type PlaybackCorrection = { seekTo: number } | { playbackRate: number }

/** Beyond this deviation from the target delay, playback seeks instead of speeding up. */
const MAX_DEVIATION_S = 1
/** Tolerated above the target, for the jitter of arrival. Below the target, metadata would be late. */
const TOLERANCE_S = 0.06
/** Playback has run out of frames, so its rate is not visible until the next one arrives. */
const STARVED_RATE = 0.5
/** Used where a seek would take so long that it leads to the next seek. */
const CATCH_UP_RATE = 1.5
/** Change of the playback rate per second of deviation. */
const GAIN = 0.5
const MAX_RATE_CHANGE = 0.1
const MAX_AUDIBLE_RATE_CHANGE = 0.03
/** Playback this close to the end of a range is stalled at a gap. */
const STALLED_S = 0.05

/** Returns how to approach the live edge; undefined while nothing is buffered. */
export function correctPlayback(state: PlaybackState): PlaybackCorrection | undefined {
  const { position, ranges, liveEdge, targetDelay, seekDuration = 0, audible = false } = state
  const lastRange = ranges.at(-1)
  if (!lastRange) return undefined
  const delay = liveEdge - position
  const deviation = delay - targetDelay
  const isOutOfReach = deviation > MAX_DEVIATION_S + 2 * seekDuration || delay < -MAX_DEVIATION_S
  if (isOutOfReach || isStalledBefore(lastRange[0], position, ranges))
    return { seekTo: Math.max(lastRange[0], liveEdge - targetDelay) }
  // Starved playback with sound pauses by itself.
  if (delay < 0) return { playbackRate: audible ? 1 : STARVED_RATE }
  if (deviation > MAX_DEVIATION_S) return { playbackRate: CATCH_UP_RATE }
  if (deviation >= 0 && deviation <= TOLERANCE_S) return { playbackRate: 1 }
  const change = clamp(
    (deviation - TOLERANCE_S / 2) * GAIN,
    audible ? MAX_AUDIBLE_RATE_CHANGE : MAX_RATE_CHANGE,
  )
  return { playbackRate: 1 + Math.round(change * 100) / 100 }
}

const clamp = (value: number, max: number) => Math.max(-max, Math.min(max, value))

/** Playback cannot reach `start` of the last range: it is stalled at a gap, or outside all ranges. */
function isStalledBefore(start: number, position: number, ranges: PlaybackState['ranges']): boolean {
  if (position >= start) return false
  const current = ranges.find(([from, to]) => from <= position && position <= to)
  return !current || current[1] - position < STALLED_S
}

/** Absorbs jitter in the arrival of fragments when metadata is fast. */
const MIN_DELAY_MS = 80
/** Cameras send sound in chunks of 125 ms, and gaps are audible. */
const MIN_AUDIBLE_DELAY_MS = 300
const METADATA_MARGIN_MS = 20
const MAX_DELAY_MS = 2_000

/** Returns the live delay in seconds at which the metadata of a frame arrives before the frame is shown. */
export function calculateTargetDelay(metadataP95Ms: number, audible = false): number {
  const minMs = audible ? MIN_AUDIBLE_DELAY_MS : MIN_DELAY_MS
  return Math.min(MAX_DELAY_MS, Math.max(minMs, metadataP95Ms + METADATA_MARGIN_MS)) / 1000
}
