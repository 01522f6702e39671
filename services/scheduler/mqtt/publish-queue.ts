import { unlessAborted } from '@eyrie/kit'

/**
 * The content of a state: text, or the SHA-256 of a picture, which is read only when it is
 * published.
 */
export type StatePayload = string | { picture: string }

/** A message to publish. */
export interface Publication {
  topic: string
  payload: StatePayload
  /**
   * The broker retains the newest state of a topic for later subscribers. It does not retain
   * events.
   */
  kind: 'state' | 'event'
}

const MAX_WAITING_EVENTS = 1000

/**
 * The messages that wait to be published. While the broker is unreachable, the queue retains only
 * the newest state of each topic and a limited number of events, so its size is bounded.
 */
export interface PublishQueue {
  /** Sets the state of a topic. An equal state is not published again. */
  setState(topic: string, payload: StatePayload): void
  /** Removes the state of a topic, also from the broker. */
  removeState(topic: string): void
  hasState(topic: string): boolean
  /** Returns the topics that have a state. */
  listStates(): string[]
  /** Adds an event. If too many events wait, the oldest one is dropped. */
  addEvent(topic: string, payload: string): void
  /** Queues all states again. */
  republish(): void
  /** Removes and returns up to `limit` messages: events first, in order. */
  take(limit: number): Publication[]
  /**
   * Adds messages again that could not be published. If a state has changed since then, the
   * newer one is published.
   */
  putBack(publications: readonly Publication[]): void
  /** Counts a message that was taken and will not be published, if it is an event. */
  drop(publication: Publication): void
  /** Resolves when the queue contains a message, or when `signal` is aborted. */
  waitForPublications(signal: AbortSignal): Promise<void>
  /** Returns the number of events that were dropped. */
  countDropped(): number
  countWaitingEvents(): number
}

export function createPublishQueue(maxEvents = MAX_WAITING_EVENTS): PublishQueue {
  const states = new Map<string, StatePayload>()
  /**
   * Topics whose state must be published, or removed from the broker if it is missing in `states`.
   */
  const waitingTopics = new Set<string>()
  const events: Publication[] = []
  let dropped = 0
  /** Resolved when a message is added, and then replaced. */
  let added = Promise.withResolvers<void>()

  function notifyAdded() {
    added.resolve()
    added = Promise.withResolvers()
  }

  function queueState(topic: string) {
    waitingTopics.add(topic)
    notifyAdded()
  }

  /** Drops the oldest events if too many wait. */
  function limitEvents() {
    const excess = Math.max(0, events.length - maxEvents)
    events.splice(0, excess)
    dropped += excess
  }

  return {
    setState(topic, payload) {
      if (JSON.stringify(states.get(topic)) === JSON.stringify(payload)) return
      states.set(topic, payload)
      queueState(topic)
    },

    removeState(topic) {
      states.delete(topic)
      queueState(topic)
    },

    hasState: topic => states.has(topic),
    listStates: () => [...states.keys()],

    addEvent(topic, payload) {
      events.push({ topic, payload, kind: 'event' })
      limitEvents()
      notifyAdded()
    },

    republish() {
      for (const topic of states.keys()) waitingTopics.add(topic)
      notifyAdded()
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
      const failedEvents = publications.filter(({ kind }) => kind === 'event')
      const failedStates = publications.filter(({ kind }) => kind === 'state')
      events.unshift(...failedEvents)
      limitEvents()
      for (const { topic } of failedStates) waitingTopics.add(topic)
      notifyAdded()
    },

    drop({ kind }) {
      if (kind === 'event') dropped++
    },

    async waitForPublications(signal) {
      if (events.length > 0 || waitingTopics.size > 0) return
      // The caller checks the signal.
      await unlessAborted(added.promise, signal).catch(() => {})
    },

    countDropped: () => dropped,
    countWaitingEvents: () => events.length,
  }
}
