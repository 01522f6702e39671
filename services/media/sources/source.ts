import type {
  DesiredSource,
  MessageFromMedia,
  PictureStatistics,
  SourceStatus,
  ViewSpec,
} from '@eyrie/contract'
import type { Log } from '@eyrie/kit'
import type { Decoding } from '../decode/decoding.ts'
import type { RingFolder } from '../decode/ring-folder.ts'
import type { ViewListener } from '../decode/shared-views.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Sound } from '../sound/source-sound.ts'
import type { Stream } from '../stream/live-stream.ts'
import type { Encoders } from '../transcode/encoders.ts'
import type { Variants } from '../transcode/source-variants.ts'

/**
 * A source of pictures: a camera, a file or a sender of messages. It offers encoded packets to
 * viewers (streams) and decoded frames to analysis (views, which other processes read from ring
 * files). A source reconnects, and repeats its file, until it is stopped.
 */
export interface Source {
  /** The live view in H.264, transcoded if the source sends another codec. */
  readonly stream: Stream
  /** The encodings in which the source can be watched. */
  readonly variants: Variants
  /**
   * The encodings of a smaller stream of the same camera; undefined if the source
   * has only one stream.
   */
  readonly smallVariants?: Variants
  /** Undefined for a source that never has sound. */
  readonly sound: Sound | undefined
  status(): SourceStatus
  /**
   * Sets the decoded views, by keys that the readers choose, and the maximum frame rate in frames
   * per second. Without a rate, every frame is passed on.
   */
  setViews(views: Record<string, ViewSpec>, rate: number | undefined): Promise<void>
  /**
   * Allows the frames of a view up to this number to be written, for readers that
   * must not miss a frame.
   */
  grant: Decoding['grant']
  /** The ring files from which the views are read. */
  rings: Decoding['rings']
  addFrameReader: Decoding['addReader']
  stats(): ReturnType<Decoding['stats']> & { packets: number }
  /** Returns statistics of the analysed pictures; undefined while none are decoded. */
  pictureStatistics(): PictureStatistics | undefined
  /** Returns a stream time, in 90 kHz ticks, after the last picture. */
  endPts(): number
  stop(): Promise<void>
}

/** The settings that identify a source: when one of them changes, the source is replaced. */
export type SourceIdentity = Pick<DesiredSource, 'id' | 'type' | 'address' | 'decoder' | 'pacing'>

/** Receives the changes of one source. */
export interface SourceListener extends ViewListener {
  onStatus(status: SourceStatus): void
}

/** Also receives the analysis results of a source that sends messages. */
export interface MessageListener extends SourceListener {
  /** Called with the objects and events that the sender has detected in a frame. */
  onFindings(
    findings: Omit<Extract<MessageFromMedia, { type: 'findings' }>, 'type' | 'source'>,
  ): void
}

/** Options common to all kinds of sources. */
export interface SourceOptions {
  identity: SourceIdentity
  /** Identifies this run of the service; stream times are only comparable within one. */
  epoch: number
  /** Stream time of the first picture, in 90 kHz ticks. */
  beginPts: number
  rings: RingFolder
  encoders: Encoders
  clock: Clock
  random: () => number
  log: Log
  listener: SourceListener
}
