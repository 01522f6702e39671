import type { Counters, DetectedObject, EventData } from '@eyrie/contract/object'
import type { ViewSpec } from '@eyrie/contract/view'
import type { RingPlace } from '../frames/ring-reader.ts'
import type { ChannelPlan } from '../plan/plan.ts'

/** What a sink is given of an analysed frame: `pts` in 90 kHz ticks, `time` in RFC 3339. */
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

/** What a sink is given of the frame that a record speaks of. */
export interface SinkFrame {
  /** The stream was interrupted before this frame. */
  discontinuity: boolean
  /** Of the record's `pts`; null while media is away. */
  epoch: number | null
  /** Size of the source's picture in pixels. */
  width: number
  height: number
  /**
   * Where frame `n` lies in the view that the sink asked for; undefined while media has not made it. The picture may
   * be overtaken at any time, and with pacing `all` is there as long as `write` has not returned.
   */
  ring: RingPlace | undefined
}

/** Takes results out of the engine. Writing never waits: what cannot be kept is counted and told by `failure`. */
export interface Sink {
  /** The form in which the sink wants the pictures of the sources; it is the same as long as the sink is open. */
  readonly view?: ViewSpec
  /** Told which channels' frames come here, whenever others may. */
  serve?(channels: readonly ChannelPlan[]): void
  write(record: SinkRecord, frame: SinkFrame): void
  /** Why records are lost; undefined while none are. */
  readonly failure: string | undefined
  close(): Promise<void>
}
