import type { RingFrame } from '../node-gst/index.ts'

/** Notifies the readers of a view of a new frame. `isFirst`: the first frame of a session, after an interruption. */
export type NotifyFrame = (frame: RingFrame, isFirst: boolean) => void

/** Decides which frames wake the readers of a view. */
export interface ReaderWakeup {
  onFrame: NotifyFrame
  /** The fastest reader has processed the frames up to `n`. */
  readUpTo(n: number): void
}

/** Live sources: every frame wakes the readers. */
export const wakeOnEveryFrame = (notify: NotifyFrame): ReaderWakeup => ({
  onFrame: notify,
  readUpTo: () => {},
})

/**
 * Pacing `all`: a reader with at least half a ring of frames left to read is not woken for more. It is notified after it has
 * reported progress. This saves most messages when analysis is slower than decoding.
 */
export function wakeOnDemand(slots: number, notify: NotifyFrame): ReaderWakeup {
  let lastNotified = 0
  /** Undefined until a reader reports progress. */
  let lastRead: number | undefined
  let pending: RingFrame | undefined

  function notifyReaders(frame: RingFrame, isFirst: boolean) {
    pending = undefined
    lastNotified = frame.n
    notify(frame, isFirst)
  }

  function notifyIfNeeded() {
    if (!pending) return
    const isBusy = lastRead !== undefined && lastNotified - lastRead >= slots / 2
    if (!isBusy) notifyReaders(pending, false)
  }

  return {
    onFrame(frame, isFirst) {
      if (isFirst) return notifyReaders(frame, true)
      pending = frame
      notifyIfNeeded()
    },
    readUpTo(n) {
      lastRead = Math.max(n, lastRead ?? 0)
      notifyIfNeeded()
    },
  }
}
