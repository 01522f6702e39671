import type { Counters, DetectedObject, EventData } from '@eyrie/contract/object'

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

/** Takes results out of the engine. Writing never waits: what cannot be kept is counted and told by `failure`. */
export interface Sink {
  write(record: SinkRecord): void
  /** Why records are lost; undefined while none are. */
  readonly failure: string | undefined
  close(): Promise<void>
}
