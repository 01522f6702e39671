import type { Picture } from '../../gstreamer/picture.ts'
import type { GstError, Pipeline } from '../../node-gst/index.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { SourceFault } from './source-fault.ts'

/** Where packets come from: a camera, a file or a server. */
export interface Origin {
  /** The address without credentials. */
  name: string
  /**
   * Launch strings up to the coded video, one per form: H.264, H.265, or any video, parsed. The first element is named
   * `origin`. They contain neither addresses nor secrets.
   */
  elements: { h264: string; h265?: string; any: string }
  /** Launch string of the elements that receive the sound, if the origin may have any. */
  sound?: string
  /** Sets the properties that must not appear in a launch string. */
  configure(pipeline: Pipeline): void
  /** The picture, if it is known before playback. */
  picture: Picture | undefined
  /** Frames arrive in real time, so that no pacing is needed. */
  live: boolean
  /**
   * For an origin whose own time does not begin at 0: `begins` is the running time of its first picture in 90 kHz ticks, and
   * `anchorUs` the wall clock at running time 0, in µs since 1970, if known.
   */
  timeline?: { begins: number; anchorUs: number | undefined } | undefined
  /** Packets arrive over RTP, so that RTP statistics are available. */
  rtp?: boolean
  /** After this long without a packet the origin counts as lost. */
  silenceMs: number | undefined
  /** Whether an error means that the origin has no H.264, but may have other video. */
  hasNoH264?(error: GstError): boolean
  /** Explains an error of the origin's elements to the user. */
  fault(error: GstError): SourceFault | Promise<SourceFault>
}

/** What opening an origin requires. */
export interface OpenContext {
  /** Folders from which files may be read. */
  mediaRoots: readonly string[]
  clock: Clock
  /** Fires when the origin is no longer needed. */
  signal: AbortSignal
}
