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
  /** Publishes the pending count of a channel. */
  flushChannel(channel: number | null): void
  /** Publishes all pending counts. */
  flush(): void
}

/** A channel that published a count less than `INTERVAL_MS` ago. */
interface ThrottledChannel {
  /** Ends the interval. */
  timer: NodeJS.Timeout
  /** The merged counts since then; undefined if there are none. */
  pending: PendingCount | undefined
}

interface PendingCount {
  count: CountDraft
  /** When the frame of the first merged count was captured, in epoch ms. */
  firstTimeMs: number
}

export function createCountCoalescer(publish: (count: CountDraft) => void): CountCoalescer {
  const throttled = new Map<number | null, ThrottledChannel>()

  function publishAndThrottle(count: CountDraft): void {
    const { channel } = count
    const timer = setTimeout(() => endInterval(channel), INTERVAL_MS)
    throttled.set(channel, { timer, pending: undefined })
    publish(count)
  }

  function endInterval(channel: number | null): void {
    const pending = throttled.get(channel)?.pending
    throttled.delete(channel)
    if (pending) publishAndThrottle(pending.count)
  }

  /**
   * Adds a count to the pending one. If their frames are too far apart, publishes the pending one,
   * and the new count becomes pending.
   */
  function addToPending(pending: PendingCount | undefined, count: CountDraft): PendingCount {
    const timeMs = Date.parse(count.time)
    if (pending && Math.abs(timeMs - pending.firstTimeMs) < INTERVAL_MS) {
      return { ...pending, count: mergeCounts(pending.count, count) }
    }
    if (pending) publish(pending.count)
    return { count, firstTimeMs: timeMs }
  }

  return {
    add: count => {
      const channel = throttled.get(count.channel)
      if (channel) channel.pending = addToPending(channel.pending, count)
      else publishAndThrottle(count)
    },
    flushChannel: id => {
      const channel = throttled.get(id)
      if (!channel?.pending) return
      publish(channel.pending.count)
      channel.pending = undefined
    },
    flush: () => {
      for (const { pending, timer } of throttled.values()) {
        clearTimeout(timer)
        if (pending) publish(pending.count)
      }
      throttled.clear()
    },
  }
}

/** Merges two counts. Values of the newer count replace those of the older one. */
function mergeCounts(older: CountDraft, newer: CountDraft): CountDraft {
  const counters = { ...older.data }
  for (const [name, counter] of Object.entries(newer.data)) {
    counters[name] = { ...counters[name], ...counter }
  }
  return { ...newer, data: counters }
}
