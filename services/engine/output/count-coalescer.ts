import type { MessageDraft } from './message-draft.ts'

export type CountDraft = Extract<MessageDraft, { kind: 'count' }>

/** Minimum time between two counts of a channel. */
const INTERVAL_MS = 100

/** Limits the rate of counts. Counts of a channel that follow too closely are merged into one with the newest values. */
export interface CountCoalescer {
  add(count: CountDraft): void
  /** Publishes all pending counts. */
  flush(): void
}

export function createCountCoalescer(publish: (count: CountDraft) => void): CountCoalescer {
  /** Channels that published less than `INTERVAL_MS` ago, and their counts since then. */
  const throttled = new Map<number | null, { pending: CountDraft | undefined; timer: NodeJS.Timeout }>()

  const publishAndThrottle = (count: CountDraft) => {
    const { channel } = count
    const timer = setTimeout(() => {
      const pending = throttled.get(channel)?.pending
      throttled.delete(channel)
      if (pending) publishAndThrottle(pending)
    }, INTERVAL_MS)
    throttled.set(channel, { pending: undefined, timer })
    publish(count)
  }

  return {
    add: count => {
      const state = throttled.get(count.channel)
      if (!state) publishAndThrottle(count)
      else state.pending = state.pending ? mergeCounts(state.pending, count) : count
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
  const data = { ...older.data }
  for (const [name, counter] of Object.entries(newer.data)) data[name] = { ...data[name], ...counter }
  return { ...newer, data }
}
