import type { BBox, Counters } from '@eyrie/contract/object'
import type { ViewSpec } from '@eyrie/contract/view'
import { clipToPicture } from '@eyrie/element/region'
import type { FrameStamp, RingLocation } from '../frames/ring-reader.ts'
import type { Publisher } from '../output/message-draft.ts'
import type { ChannelPlan } from '../plan/plan.ts'
import type { Sink } from '../sinks/sink.ts'
import type { Analysis } from './element-chain.ts'
import { type DroppedResults, UnpublishedResults } from './unpublished-results.ts'

/** The results of a channel for one frame. */
export interface ChannelResults {
  stamp: FrameStamp
  /** Identifies the time base of `pts`. Changes when `pts` restarts; null if it is unknown. */
  epoch: number | null
  analysis: Analysis
  latencyMs: number
}

/** The channel whose results are published, and where they are sent. */
export interface ResultPublisherOptions {
  plan: ChannelPlan
  publisher: Publisher
  /** The sinks that currently receive the frames of this channel. */
  sinks(): readonly Sink[]
  findRing(view: ViewSpec): RingLocation | undefined
}

/**
 * Sends the results of a channel to the output of the engine, which clients follow through the API,
 * and to the sinks of the channel, such as files.
 */
export class ResultPublisher {
  readonly #options: ResultPublisherOptions
  /** The last published JSON of each counter, by name. */
  #publishedCounters = new Map<string, string>()
  readonly #unpublished = new UnpublishedResults()

  constructor(options: ResultPublisherOptions) {
    this.#options = options
  }

  /** Keeps the results of a frame that an element has dropped, for the next published one. */
  addDropped(dropped: DroppedResults): void {
    this.#unpublished.add(dropped)
  }

  /**
   * Publishes the results of a frame, with those of the frames dropped before it. Events and
   * changed counters precede the frame, so that a client knows them when it receives the frame.
   * Throws if attributes that an element added cannot be encoded as JSON.
   */
  publish({ epoch, latencyMs, ...results }: ChannelResults): void {
    const { plan, publisher, sinks, findRing } = this.#options
    const { stamp, analysis } = this.#unpublished.addTo(results)
    const { n, pts, discontinuity, width, height } = stamp
    const time = formatMicroseconds(stamp.time)
    const ids = { channel: plan.id, source: plan.source, pipeline: plan.pipeline }
    const origin = { ...ids, pts, epoch, time }

    const { counters } = analysis
    const objects = analysis.objects.map(clipBox)
    const events = analysis.events.map(clipBox)

    for (const event of events) publisher.publish({ ...origin, kind: 'event', data: event })
    const changedCounters = this.#selectChanged(counters)
    if (changedCounters) publisher.publish({ ...origin, kind: 'count', data: changedCounters })
    const frame = { n, objects, counters, latency: latencyMs }
    publisher.publish({ ...origin, kind: 'frame', data: frame })

    for (const sink of sinks()) {
      sink.write(
        { ...ids, n, pts, time, objects, counters, events },
        { discontinuity, epoch, width, height, ring: sink.view && findRing(sink.view) },
      )
    }
  }

  /** Returns the counters that have changed since the previous frame; undefined if none has. */
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

/** Formats a time in µs since 1970 as RFC 3339. */
const formatMicroseconds = (time: number) => new Date(time / 1000).toISOString()

/**
 * Detectors and trackers may extend a box beyond the picture. Elements receive such boxes,
 * clients receive 0..1 only.
 */
function clipBox<T extends { bbox?: BBox | undefined }>(result: T): T {
  if (!result.bbox || isInsidePicture(result.bbox)) return result
  return { ...result, bbox: clipToPicture(result.bbox) }
}

const isInsidePicture = ({ x, y, w, h }: BBox) => x >= 0 && y >= 0 && x + w <= 1 && y + h <= 1
