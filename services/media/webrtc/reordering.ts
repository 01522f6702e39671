import { EyrieError } from '@eyrie/contract'
import type { Stream } from '../live/stream.ts'

/** Knows the streams with B-frames, which WebRTC's receivers show in the order of decoding. */
export interface Reordering {
  /** Throws EyrieError `type` (406) for a stream that has shown B-frames since its codec configuration was last changed. */
  refuse(stream: Stream): void
  remember(stream: Stream): void
}

export function createReordering(): Reordering {
  const known = new WeakMap<Stream, Uint8Array>()

  const isReordered = (stream: Stream) =>
    known.get(stream) === stream.track()?.avcC ||
    stream.cached().some(({ pts }, index, units) => index > 0 && pts < units[index - 1]!.pts)

  return {
    refuse(stream) {
      if (!isReordered(stream)) return
      throw new EyrieError(
        'type',
        'the stream has B-frames, which WebRTC cannot carry: watch it as fragmented MP4, or set the camera to H.264 baseline',
        { status: 406 },
      )
    },
    remember(stream) {
      const track = stream.track()
      if (track) known.set(stream, track.avcC)
    },
  }
}
