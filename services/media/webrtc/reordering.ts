import type { Stream } from '../live/stream.ts'
import { createOrder } from './order.ts'

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
