import type { Egress } from '@eyrie/kit'
import type { Picture } from '../../gstreamer/picture.ts'
import type { GstError, Pipeline } from '../../node-gst/index.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { SourceFault } from './source-fault.ts'

/**
 * An address that has been opened: a camera, a file or a server that sends packets. An origin
 * describes the GStreamer elements that receive the packets.
 */
export interface Origin {
  /** The address without credentials. */
  name: string
  /**
   * GStreamer launch strings of the elements that provide the coded video: only H.264, only H.265,
   * or video of any codec. The first element is named `origin`. Addresses and secrets are set by
   * `configure` instead, because launch strings appear in logs.
   */
  elements: { h264: string; h265?: string; any: string }
  /**
   * Launch string of the elements that receive the sound; undefined if the origin cannot have
   * sound.
   */
  sound?: string
  /** Sets the properties that must not appear in a launch string, such as passwords. */
  configure(pipeline: Pipeline): void
  /** Format of the picture; undefined if it becomes known only during playback. */
  picture: Picture | undefined
  /**
   * Whether packets arrive in real time. The packets of a file do not, so each is held
   * back until its time.
   */
  isLive: boolean
  /**
   * Set if the timestamps of the origin do not begin at 0, as those of a stream that has been
   * running for a while. `beginTicks` is the running time of the first picture, in 90 kHz ticks;
   * `anchorUs` is the wall clock at running time 0, in µs since 1970, if known.
   */
  timeline?: { beginTicks: number; anchorUs: number | undefined } | undefined
  /** Whether packets arrive over RTP, so that RTP statistics are available. */
  usesRtp?: boolean
  /** Time without a packet after which the origin counts as lost; undefined if it may be silent. */
  silenceMs: number | undefined
  /** Returns whether an error means that the origin has no H.264, but may have other video. */
  hasNoH264?(error: GstError): boolean
  /** Explains an error of the origin's elements to the user. */
  explainError(error: GstError): SourceFault | Promise<SourceFault>
}

/** Dependencies of the functions that open an origin. */
export interface OpenContext {
  /** Folders from which files may be read. */
  mediaRoots: readonly string[]
  clock: Clock
  /** Opens the connections to cameras and other servers. */
  egress: Egress
  /** Fires when the origin is no longer needed. */
  signal: AbortSignal
}
