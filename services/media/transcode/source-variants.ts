import { createStream, type Stream, type StreamWriter, type Track } from '../stream/live-stream.ts'
import type { PlayableTrack } from '../stream/sample-entry.ts'
import { createSwitchedStream } from '../stream/switched-stream.ts'
import { createTranscodedStream, type TranscodedStreamOptions } from './transcoded-stream.ts'

/** The forms in which a source can be watched. */
export interface Variants {
  /** The packets as they come, whatever they are; empty for raw pictures. */
  readonly original: Stream<Track>
  /** H.264: untouched where the source sends it, else transcoded. */
  readonly h264: Stream
  /** For those who also play H.265: untouched where the source sends either. */
  readonly h265: Stream<PlayableTrack>
  /** Always encoded here: H.264 without B-frames, in 4:2:0, in square pixels. */
  readonly transcoded: Stream
  /** All who watch, whichever form. */
  viewerCount(): number
  /** Whether an encoder is at work. */
  isTranscoding(): boolean
}

export interface SourceVariants extends Variants {
  readonly writer: StreamWriter<Track>
  /** To be called when the source's codec is known, or has become another one, before its packets are written. */
  setCodec(codec: string): void
  end(reason: string): void
  close(): Promise<void>
}

export function createSourceVariants(options: TranscodedStreamOptions): SourceVariants {
  const original = createStream<Track>(options.epoch)
  const made = createTranscodedStream(options)
  const h264 = createSwitchedStream()
  const h265 = createSwitchedStream<PlayableTrack>()
  const transcoded = createSwitchedStream()
  transcoded.switchTo(made)
  const all = [h264, h265, transcoded]

  return {
    original,
    h264,
    h265,
    transcoded,
    isTranscoding: made.isRunning,
    writer: original,
    viewerCount: () => all.reduce((sum, stream) => sum + stream.viewerCount(), 0),
    setCodec(codec) {
      // As long as the source's codec is the one, its tracks are of that kind.
      const untouched = original as Stream<Track> as Stream<never>
      h264.switchTo(codec === 'h264' ? untouched : made)
      h265.switchTo(codec === 'h264' || codec === 'h265' ? untouched : made)
    },
    end(reason) {
      for (const stream of all) stream.end(reason)
    },
    close: () => made.close('the source was removed'),
  }
}
