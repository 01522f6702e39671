import type { RingFrame } from '../node-gst/index.ts'

/** Tells readers of a view that there is a new frame; `first` of a session, so that the stream was interrupted. */
export type Tell = (frame: RingFrame, first: boolean) => void

/** When readers are woken. */
export interface Wake {
  frame: Tell
  /** The fastest reader has been through the frames up to `n`. */
  readUpTo(n: number): void
}

/** Live, every frame is news. */
export const wakeAtOnce = (tell: Tell): Wake => ({ frame: tell, readUpTo: () => {} })

/**
 * With pacing `all` a reader who still has half a ring of frames to read is not woken for more; it hears of them when
 * it has told how far it is. That saves most messages where analysis is slower than decoding.
 */
export function wakeWhenNeeded(slots: number, tell: Tell): Wake {
  let told = 0
  /** Undefined as long as nobody has told. */
  let read: number | undefined
  let held: RingFrame | undefined

  function tellIfNeeded() {
    if (!held || (read !== undefined && told - read >= slots / 2)) return
    const frame = held
    held = undefined
    told = frame.n
    tell(frame, false)
  }

  return {
    frame(frame, first) {
      held = frame
      if (!first) return tellIfNeeded()
      held = undefined
      told = frame.n
      tell(frame, true)
    },
    readUpTo(n) {
      read = Math.max(n, read ?? 0)
      tellIfNeeded()
    },
  }
}
