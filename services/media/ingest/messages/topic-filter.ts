/** One source is one channel of the sender: where several are heard, one is followed. */
export interface TopicFilter {
  /** Whether a message of this topic belongs to the source. */
  takes(topic: string): boolean
  /** The topics that were heard besides, lately. */
  others(): string[]
  /** The sender is silent: the next that is heard is followed. */
  forget(): void
}

export interface TopicFilterOptions {
  /** The beginning of the topic, as ZeroMQ's subscriptions are; the topic of just this name goes before. */
  wanted: string
  /** ms of a clock that never jumps. */
  now: () => number
  /** How long a topic counts as heard lately. */
  rememberedMs: number
}

const MOST_OTHERS = 5

export function createTopicFilter({ wanted, now, rememberedMs }: TopicFilterOptions): TopicFilter {
  let followed: string | undefined
  /** When each was heard last. */
  const heard = new Map<string, number>()

  function others() {
    for (const [topic, at] of heard) if (now() - at >= rememberedMs) heard.delete(topic)
    return [...heard.keys()]
  }

  return {
    takes(topic) {
      if (!topic.startsWith(wanted)) return false
      if (followed === undefined || topic === wanted) followed = topic
      if (topic !== followed && (heard.has(topic) || others().length < MOST_OTHERS)) heard.set(topic, now())
      return topic === followed
    },
    others,
    forget() {
      followed = undefined
      heard.clear()
    },
  }
}
