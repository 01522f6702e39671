import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { Stream } from '../../stream/live-stream.ts'

/** Knows the streams with B-frames, which WebRTC's receivers show in the order of decoding. */
export interface Reordering {
  /** Whether the stream has shown B-frames since its codec configuration was last changed. */
  has(stream: Stream): boolean
  remember(stream: Stream): void
}

export function createReordering(): Reordering {
  const known = new WeakMap<Stream, Uint8Array>()

  return {
    has(stream) {
      const avcC = stream.track()?.avcC
      if (!avcC) return false
      // Remembered, since a group of pictures that has just begun shows nothing yet.
      if (known.get(stream) !== avcC && isReordered(stream)) known.set(stream, avcC)
      return known.get(stream) === avcC
    },
    remember(stream) {
      const track = stream.track()
      if (track) known.set(stream, track.avcC)
    },
  }
}

function isReordered(stream: Stream): boolean {
  const order = createOrder()
  return stream.cached().some(({ pts }) => order.next(pts) === undefined)
}

/**
 * Tells pictures that are coded in another order than they are shown in (B-frames) from a camera's clock that is put right: then
 * time goes back once, by as much as sound and picture were apart, and never again for seconds.
 */
export interface Order {
  /** A time for this picture that is later than all before; undefined where pictures come in another order. */
  next(pts: number): number | undefined
}

const STEPS_BACK = 3
const WITHIN_TICKS = 2 * TICKS_PER_SECOND

export function createOrder(): Order {
  let steps: number[] = []
  let before = Number.NEGATIVE_INFINITY
  let newest = Number.NEGATIVE_INFINITY

  return {
    next(pts) {
      if (pts < before) steps = [...steps.filter(step => Math.abs(pts - step) < WITHIN_TICKS), pts]
      before = pts
      if (steps.length >= STEPS_BACK) return undefined
      newest = Math.max(pts, newest + 1)
      return newest
    },
  }
}
