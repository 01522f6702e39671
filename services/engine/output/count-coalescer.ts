import type { MessageDraft } from './message-draft.ts'

/** A message with the counters of a channel, such as the objects that crossed a line. */
export type CountDraft = Extract<MessageDraft, { kind: 'count' }>

/** Minimum time between two counts of a channel. */
const INTERVAL_MS = 100

/**
 * Limits the rate of `count` messages per channel. The first count is published immediately. Counts
 * that follow within the interval are merged into one, in which newer values replace older ones.
 *
 * A busy machine may analyse the frames of several seconds within one interval. Counts of frames
 * that were captured further apart than the interval are not merged, because a count must follow
 * closely after the events that it counts.
 */
export interface CountCoalescer {
  add(count: CountDraft): void
  /** Publishes all pending counts. */
  flush(): void
}

/** A channel that published a count less than `INTERVAL_MS` ago. */
interface ThrottledChannel {
  /** The merged counts since then; undefined if there are none. */
  pending: CountDraft | undefined
  /** Time of the frame of the first of these counts, in epoch ms. */
  pendingSinceMs: number
  timer: NodeJS.Timeout
}

export function createCountCoalescer(publish: (count: CountDraft) => void): CountCoalescer {
  const throttled = new Map<number | null, ThrottledChannel>()

  function publishAndThrottle(count: CountDraft): void {
    const { channel } = count
    const timer = setTimeout(() => endInterval(channel), INTERVAL_MS)
    throttled.set(channel, { pending: undefined, pendingSinceMs: 0, timer })
    publish(count)
  }

  function endInterval(channel: number | null): void {
    const pending = throttled.get(channel)?.pending
    throttled.delete(channel)
    if (pending) publishAndThrottle(pending)
  }

  return {
    add: count => {
      const channel = throttled.get(count.channel)
      if (!channel) return publishAndThrottle(count)
      const timeMs = Date.parse(count.time)
      const { pending } = channel
      if (pending && Math.abs(timeMs - channel.pendingSinceMs) < INTERVAL_MS) {
        channel.pending = mergeCounts(pending, count)
        return
      }
      if (pending) publish(pending)
      channel.pending = count
      channel.pendingSinceMs = timeMs
    },
    flush: () => {
      for (const { pending, timer } of throttled.values()) {
        clearTimeout(timer)
        if (pending) publish(pending)
      }
      throttled.clear()
    },
  }
}

function mergeCounts(older: CountDraft, newer: CountDraft): CountDraft {
  const counters = { ...older.data }
  for (const [name, counter] of Object.entries(newer.data)) {
    counters[name] = { ...counters[name], ...counter }
  }
  return { ...newer, data: counters }
}
