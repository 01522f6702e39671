/** Selects one of a sender's topics: a source is one channel, even if the subscription matches several topics. */
export interface TopicFilter {
  /** Whether a message with this topic belongs to the source. */
  accepts(topic: string): boolean
  /** Returns the other topics that were recently received. */
  otherTopics(): string[]
  /** Follows the next topic that is received, for example after the sender fell silent. */
  reset(): void
}

export interface TopicFilterOptions {
  /** Prefix of the topic, as in a ZeroMQ subscription. A topic that is equal to the prefix takes precedence. */
  prefix: string
  /** Returns monotonic time in ms. */
  now: () => number
  /** How long other topics are remembered. */
  memoryMs: number
}

const MAX_OTHER_TOPICS = 5

export function createTopicFilter({ prefix, now, memoryMs }: TopicFilterOptions): TopicFilter {
  let followed: string | undefined
  /** When each of the other topics was last received. */
  const lastReceived = new Map<string, number>()

  function otherTopics() {
    for (const [topic, at] of lastReceived) if (now() - at >= memoryMs) lastReceived.delete(topic)
    return [...lastReceived.keys()]
  }

  return {
    accepts(topic) {
      if (!topic.startsWith(prefix)) return false
      if (followed === undefined || topic === prefix) followed = topic
      if (topic === followed) return true
      if (lastReceived.has(topic) || otherTopics().length < MAX_OTHER_TOPICS) lastReceived.set(topic, now())
      return false
    },
    otherTopics,
    reset() {
      followed = undefined
      lastReceived.clear()
    },
  }
}
