/** One source is one channel of the sender: where several are heard, one is followed. */
export interface TopicFilter {
  /** Whether a message of this topic belongs to the source. */
  takes(topic: string): boolean
  /** The topics that were heard besides, lately. */
  others(): string[]
  /** The sender is silent: the next that is heard is followed. */
  forget(): void
}

const MOST_OTHERS = 5

/** `wanted` is the beginning of the topic, as ZeroMQ's subscriptions are; the topic of just this name goes before. */
export function createTopicFilter(wanted: string): TopicFilter {
  let followed: string | undefined
  const others = new Set<string>()
  return {
    takes(topic) {
      if (!topic.startsWith(wanted)) return false
      if (followed === undefined || topic === wanted) followed = topic
      if (topic !== followed && others.size < MOST_OTHERS) others.add(topic)
      return topic === followed
    },
    others: () => [...others],
    forget() {
      followed = undefined
      others.clear()
    },
  }
}
