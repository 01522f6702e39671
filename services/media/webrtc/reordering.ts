import type { Stream } from '../live/stream.ts'

/** Knows the streams with B-frames, which WebRTC's receivers show in the order of decoding. */
export interface Reordering {
  /** Whether the stream has shown B-frames since its codec configuration was last changed. */
  has(stream: Stream): boolean
  remember(stream: Stream): void
}

export function createReordering(): Reordering {
  const known = new WeakMap<Stream, Uint8Array>()

  return {
    has: stream =>
      known.get(stream) === stream.track()?.avcC ||
      stream.cached().some(({ pts }, index, units) => index > 0 && pts < units[index - 1]!.pts),
    remember(stream) {
      const track = stream.track()
      if (track) known.set(stream, track.avcC)
    },
  }
}
