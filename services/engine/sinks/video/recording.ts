import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { SinkRecord } from '../sink.ts'
import { addMetadataTrack, createMetadataFragment } from './metadata-track.ts'
import { type AccessUnit, rewriteTiming } from './mp4-segments.ts'
import { VideoFile } from './video-file.ts'
import type { WriteQueue } from './write-queue.ts'

/** When a recording ends and the next file is started. */
export interface RecordingLimits {
  /**
   * A recording ends at the last keyframe before the file would exceed this size, as estimated from
   * its largest group of pictures.
   */
  maxBytes: number
  /** A recording ends at the first keyframe after this duration. */
  maxSeconds: number
  /** Number of earlier recordings to keep. */
  keep: number
}

/** The start of a recording: a keyframe of a live stream. */
export interface RecordingStart {
  /** The init segment of the stream, which describes its coding. */
  init: Buffer
  /** Identifies the time base of the stream. */
  epoch: number
  /** The keyframe. */
  unit: AccessUnit
}

/** A longer gap between two pictures means that the camera was disconnected. */
const MAX_GAP_TICKS = TICKS_PER_SECOND

/**
 * A recording of a channel: an MP4 file with the original pictures, and a track with the results of
 * each analysed frame. Times of the live stream are shifted so that the file starts at 0. They are
 * in 90 kHz ticks.
 */
export class Recording {
  readonly #init: Buffer
  readonly epoch: number
  /** Stream time at which the first picture is presented. */
  readonly start: number
  /** Stream time at which the first picture is decoded, which is time 0 of the file. */
  readonly #origin: number
  readonly #limits: RecordingLimits
  readonly #file: VideoFile
  readonly #queue: WriteQueue

  /** Number of the last fragment. */
  #sequence = 0
  /** Size of the file in bytes, including queued writes. */
  #size: number
  /** Offset of the current group of pictures, which started at the last keyframe. */
  #groupOffset: number
  /** Size of the largest completed group of pictures. */
  #maxGroupBytes = 0

  /** The last picture in decoding order. */
  #lastPicture: AccessUnit
  /** The latest presentation time of all pictures. */
  #newest: number

  constructor(
    { init, epoch, unit }: RecordingStart,
    path: string,
    limits: RecordingLimits,
    queue: WriteQueue,
  ) {
    this.#init = init
    this.epoch = epoch
    this.start = unit.pts
    this.#origin = unit.dts
    this.#limits = limits
    this.#queue = queue
    // Starts just before the first picture, so that `contains` is false for the first picture.
    this.#lastPicture = { ...unit, dts: unit.dts - 1, duration: 0 }
    this.#newest = unit.pts
    this.#file = new VideoFile(path, limits.keep)

    const header = addMetadataTrack(init)
    this.#size = header.length
    this.#groupOffset = header.length
    queue.add({ bytes: header.length, run: () => this.#file.create(header) })
  }

  /** The latest stream time at which a picture is presented. */
  get newest(): number {
    return this.#newest
  }

  /** Whether this picture, or a later one in decoding order, has been written. */
  contains(unit: AccessUnit): boolean {
    return unit.dts <= this.#lastPicture.dts
  }

  isSameStream(init: Buffer, epoch: number): boolean {
    return this.epoch === epoch && this.#init.equals(init)
  }

  /** Whether the camera was disconnected before this picture. */
  hasGapBefore(unit: AccessUnit): boolean {
    return unit.dts > this.#lastPicture.dts + this.#lastPicture.duration + MAX_GAP_TICKS
  }

  /**
   * Whether the file is too long, or may become too large with the group of pictures that
   * starts at `keyframe`.
   */
  isFullBefore(keyframe: AccessUnit): boolean {
    const groupBytes = this.#findLargestGroup()
    const isTooLong = keyframe.dts - this.#origin >= this.#limits.maxSeconds * TICKS_PER_SECOND
    return isTooLong || this.#size + groupBytes > this.#limits.maxBytes
  }

  /** Appends a picture. The fragment is modified and must not be used afterwards. */
  write(unit: AccessUnit, fragment: Buffer): void {
    if (unit.isKeyframe) {
      this.#maxGroupBytes = this.#findLargestGroup()
      this.#groupOffset = this.#size
    }

    this.#sequence += 1
    rewriteTiming(fragment, this.#sequence, unit.dts - this.#origin)
    this.#lastPicture = unit
    this.#newest = Math.max(this.#newest, unit.pts)
    this.#append(fragment)
  }

  /** Appends the results of a frame, with the time of the frame. */
  addResults(record: SinkRecord): void {
    const text = JSON.stringify({ ...record, epoch: this.epoch })
    const fileTime = record.pts - this.#origin
    this.#sequence += 1
    const fragment = createMetadataFragment({
      sequence: this.#sequence,
      pts: fileTime,
      duration: this.#lastPicture.duration,
      text,
    })
    this.#append(fragment)
  }

  close(): void {
    this.#queue.add({ bytes: 0, run: () => this.#file.close() })
  }

  /** Returns the size of the largest group of pictures, which may be the current one. */
  #findLargestGroup(): number {
    const currentBytes = this.#size - this.#groupOffset
    return Math.max(this.#maxGroupBytes, currentBytes)
  }

  #append(bytes: Buffer): void {
    this.#size += bytes.length
    this.#queue.add({ bytes: bytes.length, run: () => this.#file.append(bytes) })
  }
}
