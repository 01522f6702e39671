import type { EventData } from '@eyrie/element'
import type { FrameStamp } from '../frames/ring-reader.ts'
import type { Analysis, DroppedFrame } from './element-chain.ts'

/**
 * Maximum number of events that wait for a frame to be published. Older ones are dropped: a channel
 * that never gets the capacity for a frame must not fill the memory.
 */
const MAX_EVENTS = 1000

/** The results of a frame that an element has dropped. */
export type DroppedResults = Pick<FrameStamp, 'discontinuity'> & Pick<DroppedFrame, 'events'>

/**
 * What dropped frames pass on to the next frame that is published, so that clients and sinks miss
 * no event and no discontinuity.
 */
export class UnpublishedResults {
  #events: readonly EventData[] = []
  #hasDiscontinuity = false

  add({ discontinuity, events }: DroppedResults): void {
    this.#hasDiscontinuity ||= discontinuity
    if (events.length > 0) this.#events = [...this.#events, ...events].slice(-MAX_EVENTS)
  }

  /** Adds the results that wait to those of a frame. */
  addTo({ stamp, analysis }: { stamp: FrameStamp; analysis: Analysis }) {
    if (!this.#hasDiscontinuity && this.#events.length === 0) return { stamp, analysis }
    const discontinuity = stamp.discontinuity || this.#hasDiscontinuity
    const events = [...this.#events, ...analysis.events]
    this.#hasDiscontinuity = false
    this.#events = []
    return { stamp: { ...stamp, discontinuity }, analysis: { ...analysis, events } }
  }
}
