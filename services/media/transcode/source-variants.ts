import { createStream, type Stream, type StreamWriter, type Track } from '../stream/live-stream.ts'
import type { PlayableTrack } from '../stream/sample-entry.ts'
import { createSwitchedStream } from '../stream/switched-stream.ts'
import { createTranscodedStream, type TranscodedStreamOptions } from './transcoded-stream.ts'

/**
 * The variants of a source: the encodings in which it can be watched. A variant passes on the
 * packets of the source if their codec suits, and otherwise transcodes while it has viewers.
 */
export interface Variants {
  /** The packets of the source in any codec; empty for raw pictures. */
  readonly original: Stream<Track>
  /** H.264: the original packets if the source sends H.264, else transcoded. */
  readonly h264: Stream
  /**
   * For players that can decode H.265 and H.264: the original packets if the source sends either,
   * else transcoded to H.264. This variant is recorded.
   */
  readonly h265: Stream<PlayableTrack>
  /** Always transcoded: H.264 without B-frames, in 4:2:0 and square pixels. */
  readonly transcoded: Stream
  /**
   * Number of viewers of the variants `h264`, `h265` and `transcoded`. The original is read by
   * them, not by viewers.
   */
  viewerCount(): number
  /** Whether an encoder is running. */
  isTranscoding(): boolean
}

/** The variants of a source, from the perspective of the source itself. */
export interface SourceVariants extends Variants {
  /** Receives the packets of the source. */
  readonly writer: StreamWriter<Track>
  /**
   * Must be called before the first packet, and when the codec of the source changes. Before the
   * first call, the variants `h264` and `h265` send nothing.
   */
  setCodec(codec: string): void
  /** Ends all variants for their current viewers. */
  end(reason: string): void
  close(): Promise<void>
}

export function createSourceVariants(options: TranscodedStreamOptions): SourceVariants {
  const original = createStream<Track>(options.epoch)
  const encoded = createTranscodedStream(options)
  const h264 = createSwitchedStream()
  const h265 = createSwitchedStream<PlayableTrack>()
  const transcoded = createSwitchedStream()
  transcoded.switchTo(encoded)
  const watchable = [h264, h265, transcoded]

  return {
    original,
    h264,
    h265,
    transcoded,
    isTranscoding: encoded.isRunning,
    writer: original,
    viewerCount: () => watchable.reduce((sum, stream) => sum + stream.viewerCount(), 0),
    setCodec(codec) {
      // The type of a stream states the codecs of its tracks, and `codec` states it at
      // run time. The cast is safe, because each variant receives the original only if
      // `codec` is one of its own.
      const passthrough = original as Stream<Track> as Stream<never>
      const isH264 = codec === 'h264'
      const isH265 = codec === 'h265'
      h264.switchTo(isH264 ? passthrough : encoded)
      h265.switchTo(isH264 || isH265 ? passthrough : encoded)
    },
    end(reason) {
      for (const stream of watchable) stream.end(reason)
    },
    close: () => encoded.close('the source was removed'),
  }
}
