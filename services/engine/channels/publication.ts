import type { BBox, Counters } from '@eyrie/contract/object'
import type { ViewSpec } from '@eyrie/contract/view'
import { clipToPicture } from '@eyrie/element/region'
import type { FrameStamp, RingPlace } from '../frames/ring-reader.ts'
import type { Publisher } from '../output/message-draft.ts'
import type { ChannelPlan } from '../plan/plan.ts'
import type { Sink } from '../sinks/sink.ts'
import type { Analysis } from './chain.ts'

export interface PublicationOptions {
  plan: ChannelPlan
  publisher: Publisher
  /** The sinks that want this channel's frames now. */
  sinks(): readonly Sink[]
  ringOf(view: ViewSpec): RingPlace | undefined
}

/** Sends what was found in a channel's frames to the output and the sinks. */
export class Publication {
  readonly #options: PublicationOptions
  #counted = new Map<string, string>()

  constructor(options: PublicationOptions) {
    this.#options = options
  }

  /** Events and counts first, so that whoever has seen a frame has seen what led to its counters. */
  publish(stamp: FrameStamp, epoch: number | null, analysis: Analysis, latency: number): void {
    const { plan, publisher, sinks, ringOf } = this.#options
    const { n, pts, discontinuity, width, height } = stamp
    const time = new Date(stamp.time / 1000).toISOString()
    const of = { channel: plan.id, source: plan.source, pipeline: plan.pipeline }
    const at = { ...of, pts, epoch, time }
    const { counters } = analysis
    const [objects, events] = [analysis.objects.map(cut), analysis.events.map(cut)]
    for (const event of events) publisher.publish({ ...at, kind: 'event', data: event })
    const changed = this.#changed(counters)
    if (changed) publisher.publish({ ...at, kind: 'count', data: changed })
    publisher.publish({ ...at, kind: 'frame', data: { n, objects, counters, latency } })
    for (const sink of sinks())
      sink.write(
        { ...of, n, pts, time, objects, counters, events },
        { discontinuity, epoch, width, height, ring: sink.view && ringOf(sink.view) },
      )
  }

  #changed(counters: Readonly<Counters>): Counters | undefined {
    const changed: Counters = {}
    for (const [name, counter] of Object.entries(counters)) {
      const text = JSON.stringify(counter)
      if (this.#counted.get(name) === text) continue
      this.#counted.set(name, text)
      changed[name] = counter
    }
    return Object.keys(changed).length > 0 ? changed : undefined
  }
}

/** What detectors and trackers know of a box beyond the picture is for elements; everybody else is promised 0..1. */
function cut<Found extends { bbox?: BBox | undefined }>(found: Found): Found {
  if (!found.bbox || isWithin(found.bbox)) return found
  return { ...found, bbox: clipToPicture(found.bbox) }
}

const isWithin = ({ x, y, w, h }: BBox) => x >= 0 && y >= 0 && x + w <= 1 && y + h <= 1
