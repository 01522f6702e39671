import type { Picture } from '../../gstreamer/picture.ts'
import type { GstError, Pipeline } from '../../node-gst/index.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { SourceFault } from './source-fault.ts'

/** Where a session gets its packets from. */
export interface Origin {
  /** Its address without credentials. */
  name: string
  /**
   * Elements up to coded video, the first of which is named `origin`: either H.264 or H.265 for sure, or whatever there is,
   * parsed. Neither addresses nor secrets are in it.
   */
  elements: { h264: string; h265?: string; any: string }
  /** Elements that take its sound, if it has any, beside those for its video. */
  sound?: string
  /** Sets what does not belong into a launch string. */
  configure(pipeline: Pipeline): void
  /** What comes, where that is known beforehand. */
  picture: Picture | undefined
  /** Frames come when they are taken, so that nobody has to pace them. */
  live: boolean
  /**
   * Where its own time does not begin at 0: `begins`, in 90 kHz ticks of running time, is that of its first picture, and
   * `anchorUs` the wall clock, in µs since 1970, at running time 0, where that is known.
   */
  timeline?: { begins: number; anchorUs: number | undefined } | undefined
  /** It comes by RTP, which keeps statistics. */
  rtp?: boolean
  /** Silence longer than this means that it is lost. */
  silenceMs: number | undefined
  /** Whether a failure says that H.264 cannot be had, while something else may. */
  hasNoH264?(error: GstError): boolean
  /** What a failure of its elements means. */
  fault(error: GstError): SourceFault | Promise<SourceFault>
}

/** What the opening of an origin may need. */
export interface Opening {
  /** Folders from which files may be read. */
  mediaRoots: readonly string[]
  clock: Clock
  /** Fires when it is no longer wanted. */
  signal: AbortSignal
}
