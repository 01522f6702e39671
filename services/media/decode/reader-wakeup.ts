import type { RingFrame } from '../node-gst/index.ts'

/**
 * Notifies the readers of a view, which are other processes that read frames from a ring file, of a new frame. `isFirst`: the frame is
 * the first one after an interruption.
 */
export type NotifyFrame = (frame: RingFrame, isFirst: boolean) => void

/** Decides for which frames the readers of a view are notified. A ring has a fixed number of slots, one per frame. */
export interface ReaderWakeup {
  /** Must be called for each frame that was written. */
  onFrame: NotifyFrame
  /** Must be called when the fastest reader has processed the frames up to `n`. */
  readUpTo(n: number): void
}

/** Wakes the readers for every frame, for live sources. */
export const wakeOnEveryFrame = (notify: NotifyFrame): ReaderWakeup => ({
  onFrame: notify,
  readUpTo: () => {},
})

/**
 * Wakes the readers only when they have less than half a ring of unread frames, for readers that must read every frame. This
 * saves most messages if analysis is slower than decoding.
 */
export function wakeOnDemand(slots: number, notify: NotifyFrame): ReaderWakeup {
  let lastNotified = 0
  /** Last frame that a reader has processed; undefined until a reader reports progress. */
  let lastRead: number | undefined
  /** Newest frame, if its notification was postponed. */
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
