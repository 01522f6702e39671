import { TokenBucket } from './token-bucket.ts'

const MAX_EVENTS_PER_FRAME = 100
const BURST_EVENTS = 1000
const EVENTS_PER_SECOND = 50
const MAX_OBJECTS = 1000
const MAX_COUNTERS = 1000

/**
 * Limits how much an element reports, because all of it is published, and events are stored for
 * ever.
 */
export class ResultLimits {
  readonly #events: TokenBucket

  constructor(now: number) {
    this.#events = new TokenBucket(BURST_EVENTS, EVENTS_PER_SECOND, now)
  }

  /**
   * Returns which limit a result exceeds; undefined if none. Its content has not been validated
   * yet.
   */
  check(result: unknown, now: number): string | undefined {
    if (typeof result !== 'object' || result === null) return undefined
    const { objects, lowScoreObjects, counters, events } = result as Record<string, unknown>
    for (const list of [objects, lowScoreObjects]) {
      if (countItems(list) > MAX_OBJECTS) {
        return `it returns ${countItems(list)} objects for a frame, more than ${MAX_OBJECTS}`
      }
    }
    if (countItems(counters) > MAX_COUNTERS) {
      return `it returns ${countItems(counters)} counters for a frame, more than ${MAX_COUNTERS}`
    }

    const eventCount = countItems(events)
    if (eventCount > MAX_EVENTS_PER_FRAME) {
      return `it reports ${eventCount} events for a frame, more than ${MAX_EVENTS_PER_FRAME}`
    }
    if (!this.#events.take(eventCount, now)) {
      return `it reports more than ${EVENTS_PER_SECOND} events per second`
    }
    return undefined
  }
}

function countItems(list: unknown): number {
  if (Array.isArray(list)) return list.length
  return typeof list === 'object' && list !== null ? Object.keys(list).length : 0
}
