/**
 * Selects one of a sender's topics. A ZeroMQ subscription matches all topics with a prefix, but a
 * source shows only one stream. The filter follows the first topic received: it accepts the
 * messages of this topic, and no others.
 */
export interface TopicFilter {
  /**
   * Must be called for each message received. Returns whether the message belongs to the source.
   */
  accept(topic: string): boolean
  /** Returns the topics that were recently received and not accepted. */
  otherTopics(): string[]
  /**
   * Makes the filter follow the next topic received, for example because the sender has been
   * silent.
   */
  reset(): void
}

export interface TopicFilterOptions {
  /**
   * Prefix of the subscription. A topic equal to the prefix takes precedence over the topic
   * that is being followed.
   */
  prefix: string
  /** Returns monotonic time in ms. */
  now: () => number
  /** How long other topics are remembered. */
  memoryMs: number
}

const MAX_OTHER_TOPICS = 5

export function createTopicFilter({ prefix, now, memoryMs }: TopicFilterOptions): TopicFilter {
  let followed: string | undefined
  /** Time at which each of the other topics was last received. */
  const lastReceived = new Map<string, number>()

  function otherTopics() {
    for (const [topic, receivedAt] of lastReceived) {
      if (now() - receivedAt >= memoryMs) lastReceived.delete(topic)
    }
    return [...lastReceived.keys()]
  }

  return {
    accept(topic) {
      if (!topic.startsWith(prefix)) return false
      if (followed === undefined || topic === prefix) followed = topic
      if (topic === followed) return true
      if (lastReceived.has(topic) || otherTopics().length < MAX_OTHER_TOPICS) {
        lastReceived.set(topic, now())
      }
      return false
    },
    otherTopics,
    reset() {
      followed = undefined
      lastReceived.clear()
    },
  }
}
