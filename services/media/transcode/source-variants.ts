import { createStream, type Stream, type StreamWriter, type Track } from '../stream/live-stream.ts'
import type { PlayableTrack, VideoTrack } from '../stream/sample-entry.ts'
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
  readonly playable: Stream<PlayableTrack>
  /** Always transcoded: H.264 without B-frames, in 4:2:0 and square pixels. */
  readonly transcoded: Stream
  /**
   * Number of viewers of the variants `h264`, `playable` and `transcoded`. The original is read by
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
   * first call, the variants `h264` and `playable` send nothing.
   */
  setCodec(codec: string): void
  /** Ends all variants for their current viewers. */
  end(reason: string): void
  close(): Promise<void>
}

export function createSourceVariants(options: TranscodedStreamOptions): SourceVariants {
  const original = createStream<Track>(options.epoch)
  /** Transcodes while one of the variants that are switched to it has viewers. */
  const transcoding = createTranscodedStream(options)
  const h264 = createSwitchedStream()
  const playable = createSwitchedStream<PlayableTrack>()
  const transcoded = createSwitchedStream()
  transcoded.switchTo(transcoding)
  const watchable = [h264, playable, transcoded]

  return {
    original,
    h264,
    playable,
    transcoded,
    isTranscoding: transcoding.isRunning,
    // Packets that are written to the original also reach the variants that are switched to it.
    writer: original,
    viewerCount: () => watchable.reduce((sum, stream) => sum + stream.viewerCount(), 0),
    setCodec(codec) {
      const isH264 = codec === 'h264'
      const isPlayable = isH264 || codec === 'h265'
      h264.switchTo(isH264 ? narrow<VideoTrack>(original) : transcoding)
      playable.switchTo(isPlayable ? narrow<PlayableTrack>(original) : transcoding)
    },
    end(reason) {
      for (const stream of watchable) stream.end(reason)
    },
    close: () => transcoding.close('the source was removed'),
  }
}

/**
 * Returns the stream with a narrower type of its tracks. The caller has checked the codec, which
 * the compiler does not know.
 */
const narrow = <Carried extends Track>(stream: Stream<Track>) => stream as Stream<Carried>
