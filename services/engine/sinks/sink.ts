import type { Counters, DetectedObject, EventData } from '@eyrie/contract/object'
import type { ViewSpec } from '@eyrie/contract/view'
import type { RingLocation } from '../frames/ring-reader.ts'
import type { ChannelPlan } from '../plan/plan.ts'

/** The results of an analysed frame: `pts` in 90 kHz ticks, `time` in RFC 3339. */
export interface SinkRecord {
  channel: number
  source: number
  pipeline: number
  n: number
  pts: number
  time: string
  objects: readonly DetectedObject[]
  counters: Readonly<Counters>
  events: readonly EventData[]
}

/** Metadata of a record's frame. */
export interface SinkFrame {
  /** The stream was interrupted before this frame. */
  discontinuity: boolean
  /** Epoch of the record's `pts`; null while media is disconnected. */
  epoch: number | null
  /** Size of the source's picture in pixels. */
  width: number
  height: number
  /**
   * Ring with frame `n` in the sink's view; undefined while media has not made it. With pacing `all` the frame is valid until
   * `write` returns; otherwise it may be overwritten at any time.
   */
  ring: RingLocation | undefined
}

/** Writes results to an external system. Writing never blocks: records that cannot be written are lost, see `failure`. */
export interface Sink {
  /** The view in which the sink needs pictures. Constant while the sink is open. */
  readonly view?: ViewSpec
  /** Called with the channels that feed the sink whenever they may have changed. */
  setChannels?(channels: readonly ChannelPlan[]): void
  write(record: SinkRecord, frame: SinkFrame): void
  /** Why records are being lost; undefined if none are. */
  readonly failure: string | undefined
  close(): Promise<void>
}
