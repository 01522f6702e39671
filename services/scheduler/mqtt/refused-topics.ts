/** Consecutive lost connections after which a topic counts as refused. */
const MAX_LOSSES = 3
/**
 * Time for which a topic counts as refused. Then its next message is tried: a connection that is
 * often lost may have been the cause.
 */
const REFUSAL_MS = 600_000

/**
 * Finds the topics whose messages make the broker close the connection, for example because a
 * picture is larger than the broker permits. MQTT 3.1.1 has no other answer to such a message.
 */
export interface RefusedTopics {
  isRefused(topic: string): boolean
  /**
   * Whether a topic may be about to be refused. Messages must then be published one at a time, so
   * that a lost connection shows which one has caused it.
   */
  hasSuspects(): boolean
  recordConfirmation(topic: string): void
  /**
   * Must be called when the connection was lost, with the topics of the messages that the broker
   * had not confirmed. Returns the topics that are refused from now on.
   */
  recordLoss(topics: readonly string[]): string[]
}

interface Losses {
  /** Number of consecutive connections that were lost after a message of the topic. */
  count: number
  /** Time in ms of `now`. */
  lastLossAt: number
}

/** `now` returns ms of a monotonic clock. */
export function createRefusedTopics(now = () => performance.now()): RefusedTopics {
  const losses = new Map<string, Losses>()

  return {
    isRefused(topic) {
      const { count, lastLossAt } = losses.get(topic) ?? { count: 0, lastLossAt: 0 }
      return count >= MAX_LOSSES && now() < lastLossAt + REFUSAL_MS
    },
    hasSuspects: () => [...losses.values()].some(({ count }) => count === MAX_LOSSES - 1),
    recordConfirmation: topic => void losses.delete(topic),
    recordLoss(topics) {
      const affected = new Set(topics)
      for (const topic of affected) {
        const count = (losses.get(topic)?.count ?? 0) + 1
        losses.set(topic, { count, lastLossAt: now() })
      }
      return [...affected].filter(topic => losses.get(topic)!.count >= MAX_LOSSES)
    },
  }
}
