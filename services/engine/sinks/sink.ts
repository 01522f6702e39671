import type { Counters, DetectedObject, EventData } from '@eyrie/contract/object'
import type { ViewSpec } from '@eyrie/contract/view'
import type { RingLocation } from '../frames/ring-reader.ts'
import type { ChannelPlan } from '../plan/plan.ts'

/**
 * The results of an analysed frame, which a channel writes to its sinks. Some sinks pass it on as
 * JSON, so its fields have the names of the messages.
 */
export interface SinkRecord {
  /** Ids of the channel, its source and its pipeline. */
  channel: number
  source: number
  pipeline: number
  /** Number of the frame. */
  n: number
  /** Presentation time in 90 kHz ticks. */
  pts: number
  /** Time of the frame in RFC 3339. */
  time: string
  objects: readonly DetectedObject[]
  counters: Readonly<Counters>
  events: readonly EventData[]
}

/** The frame that a record describes. */
export interface SinkFrame {
  /** Whether the stream was interrupted before this frame. */
  discontinuity: boolean
  /**
   * Identifies the time base of `pts`, which changes when the media service restarts; null
   * while it is disconnected.
   */
  epoch: number | null
  /** Size of the picture of the source, in pixels. */
  width: number
  height: number
  /**
   * The ring buffer in shared memory with the picture of the frame, in the sink's view. Undefined
   * until the media service has created the buffer.
   *
   * If the source has pacing `all`, the picture is valid until `write` returns. Otherwise, it may
   * be overwritten at any time.
   */
  ring: RingLocation | undefined
}

/**
 * Writes the results of channels to an external system, such as a file, a database or a video
 * stream.
 */
export interface Sink {
  /**
   * Size and format of the pictures that the sink needs, if any. Constant while the sink is open.
   */
  readonly view?: ViewSpec
  /**
   * Sets the channels that write to the sink, for sinks that prepare something for each channel.
   * Called whenever they may have changed.
   */
  setChannels?(channels: readonly ChannelPlan[]): void
  /** Never blocks. Records that cannot be written are lost, and `failure` reports the loss. */
  write(record: SinkRecord, frame: SinkFrame): void
  /** Why records are being lost; undefined if none are. */
  readonly failure: string | undefined
  close(): Promise<void>
}
