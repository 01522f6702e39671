import type { RingFrame } from '../node-gst/index.ts'

/**
 * Notifies the readers of a view of a new frame. Readers are other processes. They read the frames
 * from a ring, a file with a fixed number of slots for one frame each. `isFirst` is true for the
 * first frame after an interruption.
 */
export type NotifyFrame = (frame: RingFrame, isFirst: boolean) => void

/** Decides for which frames the readers of a view are notified. */
export interface ReaderWakeup {
  /** Must be called for each frame that was written. */
  onFrame: NotifyFrame
  /** Must be called when the fastest reader has processed the frames up to `n`. */
  readUpTo(n: number): void
}

/** Notifies the readers of every frame, for live sources. */
export const wakeOnEveryFrame = (notify: NotifyFrame): ReaderWakeup => ({
  onFrame: notify,
  readUpTo: () => {},
})

/**
 * Notifies readers that must read every frame. While half of the slots contain unread frames, the
 * readers are busy, and are not notified of further ones. This saves most messages if analysis is
 * slower than decoding.
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
    const areReadersBusy = lastRead !== undefined && lastNotified - lastRead >= slots / 2
    if (!areReadersBusy) notifyReaders(pending, false)
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
