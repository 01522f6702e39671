import type { BBox, Counters } from '@eyrie/contract/object'
import type { ViewSpec } from '@eyrie/contract/view'
import { clipToPicture } from '@eyrie/element/region'
import type { FrameStamp, RingLocation } from '../frames/ring-reader.ts'
import type { Publisher } from '../output/message-draft.ts'
import type { ChannelPlan } from '../plan/plan.ts'
import type { Sink } from '../sinks/sink.ts'
import type { Analysis } from './element-chain.ts'

export interface ResultPublisherOptions {
  plan: ChannelPlan
  publisher: Publisher
  /** The sinks that currently accept this channel's frames. */
  sinks(): readonly Sink[]
  findRing(view: ViewSpec): RingLocation | undefined
}

/** Sends the results of a channel to the output and to its sinks. */
export class ResultPublisher {
  readonly #options: ResultPublisherOptions
  /** The last published JSON of each counter, by name. */
  #publishedCounters = new Map<string, string>()

  constructor(options: ResultPublisherOptions) {
    this.#options = options
  }

  /**
   * Publishes events and changed counters before the frame, so that a client that receives the frame already has what led
   * to its counters. `latency` in ms. Throws if an element's own attributes cannot be serialised as JSON.
   */
  publish(stamp: FrameStamp, epoch: number | null, analysis: Analysis, latency: number): void {
    const { plan, publisher, sinks, findRing } = this.#options
    const { n, pts, discontinuity, width, height } = stamp
    const time = new Date(stamp.time / 1000).toISOString()
    const ids = { channel: plan.id, source: plan.source, pipeline: plan.pipeline }
    const place = { ...ids, pts, epoch, time }
    const { counters } = analysis
    const objects = analysis.objects.map(clipBox)
    const events = analysis.events.map(clipBox)
    for (const event of events) publisher.publish({ ...place, kind: 'event', data: event })
    const changed = this.#selectChanged(counters)
    if (changed) publisher.publish({ ...place, kind: 'count', data: changed })
    publisher.publish({ ...place, kind: 'frame', data: { n, objects, counters, latency } })
    for (const sink of sinks())
      sink.write(
        { ...ids, n, pts, time, objects, counters, events },
        { discontinuity, epoch, width, height, ring: sink.view && findRing(sink.view) },
      )
  }

  #selectChanged(counters: Readonly<Counters>): Counters | undefined {
    const changed: Counters = {}
    for (const [name, counter] of Object.entries(counters)) {
      const text = JSON.stringify(counter)
      if (this.#publishedCounters.get(name) === text) continue
      this.#publishedCounters.set(name, text)
      changed[name] = counter
    }
    return Object.keys(changed).length > 0 ? changed : undefined
  }
}

/** Detectors and trackers may extend a box beyond the picture. Elements see that; clients only get 0..1. */
function clipBox<T extends { bbox?: BBox | undefined }>(value: T): T {
  if (!value.bbox || isInsidePicture(value.bbox)) return value
  return { ...value, bbox: clipToPicture(value.bbox) }
}

const isInsidePicture = ({ x, y, w, h }: BBox) => x >= 0 && y >= 0 && x + w <= 1 && y + h <= 1
