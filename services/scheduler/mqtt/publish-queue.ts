/** The content of a retained message: text, or the picture with this SHA-256, which is read when it is sent. */
export type StatePayload = string | { picture: string }

export interface Publication {
  topic: string
  payload: StatePayload
  /** A state is retained by the broker; only the newest is of interest. */
  kind: 'state' | 'event'
}

/** Events that wait while the broker is unreachable. Older ones are dropped. */
export const MAX_WAITING_EVENTS = 1000

/**
 * What waits to be published. Its size is bounded by the number of records, however long the broker is unreachable: of states,
 * only the newest is kept, and of events a limited number.
 */
export interface PublishQueue {
  /** Sets the state of a topic, and publishes it if it has changed. */
  setState(topic: string, payload: StatePayload): void
  /** Makes the broker forget the state of a topic. */
  removeState(topic: string): void
  hasState(topic: string): boolean
  /** Topics that have a state. */
  listStates(): string[]
  addEvent(topic: string, payload: string): void
  /** Publishes all states again. */
  republish(): void
  /** Takes publications from the queue: events first, in order. */
  take(limit: number): Publication[]
  /** Puts back what could not be published. */
  putBack(publications: readonly Publication[]): void
  /** Resolves when there is something to take, or when `signal` is aborted. */
  waitForPublications(signal: AbortSignal): Promise<void>
  /** Number of events that were dropped. */
  countDropped(): number
  /** Number of events that wait. */
  countWaitingEvents(): number
}

export function createPublishQueue(maxEvents = MAX_WAITING_EVENTS): PublishQueue {
  const states = new Map<string, StatePayload>()
  /** Topics whose state is to be published, or removed if there is none. */
  const waitingTopics = new Set<string>()
  let events: Publication[] = []
  let dropped = 0
  let added = Promise.withResolvers<void>()

  function announce() {
    added.resolve()
    added = Promise.withResolvers()
  }

  function limitEvents() {
    const excess = events.length - maxEvents
    if (excess <= 0) return
    events = events.slice(excess)
    dropped += excess
  }

  const queue: PublishQueue = {
    setState(topic, payload) {
      if (JSON.stringify(states.get(topic)) === JSON.stringify(payload)) return
      states.set(topic, payload)
      waitingTopics.add(topic)
      announce()
    },
    removeState(topic) {
      states.delete(topic)
      waitingTopics.add(topic)
      announce()
    },
    hasState: topic => states.has(topic),
    listStates: () => [...states.keys()],
    addEvent(topic, payload) {
      events.push({ topic, payload, kind: 'event' })
      limitEvents()
      announce()
    },
    republish() {
      for (const topic of states.keys()) waitingTopics.add(topic)
      announce()
    },
    take(limit) {
      const taken = events.splice(0, limit)
      for (const topic of waitingTopics) {
        if (taken.length >= limit) break
        waitingTopics.delete(topic)
        taken.push({ topic, payload: states.get(topic) ?? '', kind: 'state' })
      }
      return taken
    },
    putBack(publications) {
      events = [...publications.filter(({ kind }) => kind === 'event'), ...events]
      limitEvents()
      for (const { topic, kind } of publications) if (kind === 'state') waitingTopics.add(topic)
      announce()
    },
    async waitForPublications(signal) {
      if (signal.aborted || events.length > 0 || waitingTopics.size > 0) return
      const aborted = Promise.withResolvers<void>()
      const abort = () => aborted.resolve()
      signal.addEventListener('abort', abort, { once: true })
      await Promise.race([added.promise, aborted.promise])
      signal.removeEventListener('abort', abort)
    },
    countDropped: () => dropped,
    countWaitingEvents: () => events.length,
  }
  return queue
}
