import type { MessageDraft } from './message-draft.ts'

export type CountDraft = Extract<MessageDraft, { kind: 'count' }>

/** Counters of one channel go out at most this often. */
const INTERVAL_MS = 100

/** Passes on counts; those of a channel that come too soon are united into one with the newest values. */
export interface Coalescer {
  add(count: CountDraft): void
  /** Passes on what still waits. */
  flush(): void
}

export function createCoalescer(pass: (count: CountDraft) => void): Coalescer {
  /** Channels that have sent a moment ago, with what has come since. */
  const resting = new Map<number | null, { waiting: CountDraft | undefined; timer: NodeJS.Timeout }>()

  const send = (count: CountDraft) => {
    const { channel } = count
    const timer = setTimeout(() => {
      const waiting = resting.get(channel)?.waiting
      resting.delete(channel)
      if (waiting) send(waiting)
    }, INTERVAL_MS)
    resting.set(channel, { waiting: undefined, timer })
    pass(count)
  }

  return {
    add: count => {
      const rest = resting.get(count.channel)
      if (rest) rest.waiting = rest.waiting ? unite(rest.waiting, count) : count
      else send(count)
    },
    flush: () => {
      for (const { waiting, timer } of resting.values()) {
        clearTimeout(timer)
        if (waiting) pass(waiting)
      }
      resting.clear()
    },
  }
}

function unite(old: CountDraft, fresh: CountDraft): CountDraft {
  const data = { ...old.data }
  for (const [name, counter] of Object.entries(fresh.data)) data[name] = { ...data[name], ...counter }
  return { ...fresh, data }
}
