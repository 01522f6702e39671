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

  function remember(stream: Stream) {
    const track = stream.track()
    if (track) known.set(stream, track.avcC)
  }

  return {
    has(stream) {
      if (known.has(stream) && known.get(stream) === stream.track()?.avcC) return true
      // Remembered, since a group of pictures that has just begun shows nothing yet.
      const shown = isReordered(stream)
      if (shown) remember(stream)
      return shown
    },
    remember,
  }
}

function isReordered(stream: Stream): boolean {
  const order = createOrder()
  return stream.cached().some(({ pts }) => order.next(pts) === undefined)
}
