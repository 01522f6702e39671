import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { SinkRecord } from '../sink.ts'
import { addMetadataTrack, createMetadataFragment } from './metadata-track.ts'
import { type AccessUnit, rewriteTiming } from './mp4-segments.ts'
import { VideoFile } from './video-file.ts'
import type { WriteQueue } from './write-queue.ts'

export interface RecordingLimits {
  /** A file ends at the last keyframe before it would exceed this. */
  maxBytes: number
  /** A file ends at the first keyframe after this time, in seconds. */
  maxSeconds: number
  /** Number of earlier files to keep. */
  keep: number
}

/** A keyframe of a live stream at which a recording starts. */
export interface RecordingStart {
  init: Buffer
  epoch: number
  unit: AccessUnit
}

/** A longer gap between pictures means that the camera was disconnected. */
const MAX_GAP_TICKS = TICKS_PER_SECOND

/** One file with the original pictures and a track with the results of each analysed frame. Its time starts at 0. */
export class Recording {
  readonly #init: Buffer
  readonly epoch: number
  /** Stream time of the first picture. */
  readonly start: number
  /** Decoding time of the first picture, which is time 0 of the file. */
  readonly #base: number
  readonly #limits: RecordingLimits
  readonly #file: VideoFile
  readonly #queue: WriteQueue
  #sequence = 0
  #bytes: number
  /** Offset of the current group of pictures, and size of the largest one. */
  #groupOffset: number
  #maxGroupBytes = 0
  #last: AccessUnit
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
    this.#base = unit.dts
    this.#limits = limits
    this.#queue = queue
    this.#last = { ...unit, dts: unit.dts - 1, duration: 0 }
    this.#newest = unit.pts
    this.#file = new VideoFile(path, limits.keep)
    const header = addMetadataTrack(init)
    this.#bytes = header.length
    this.#groupOffset = header.length
    queue.add({ bytes: header.length, run: () => this.#file.create(header) })
  }

  /** Stream time of the newest picture. */
  get newest(): number {
    return this.#newest
  }

  contains(unit: AccessUnit): boolean {
    return unit.dts <= this.#last.dts
  }

  isSameStream(init: Buffer, epoch: number): boolean {
    return this.epoch === epoch && this.#init.equals(init)
  }

  /** Whether so many pictures are missing before this one that the camera must have been disconnected. */
  hasGapBefore(unit: AccessUnit): boolean {
    return unit.dts > this.#last.dts + this.#last.duration + MAX_GAP_TICKS
  }

  /** Whether the file is too long, or might become too large with the group of pictures that starts at `keyframe`. */
  isFullBefore(keyframe: AccessUnit): boolean {
    const groupBytes = Math.max(this.#maxGroupBytes, this.#bytes - this.#groupOffset)
    const isTooLong = keyframe.dts - this.#base >= this.#limits.maxSeconds * TICKS_PER_SECOND
    return isTooLong || this.#bytes + groupBytes > this.#limits.maxBytes
  }

  /** Modifies and keeps `fragment`. */
  write(unit: AccessUnit, fragment: Buffer): void {
    if (unit.isKeyframe) {
      this.#maxGroupBytes = Math.max(this.#maxGroupBytes, this.#bytes - this.#groupOffset)
      this.#groupOffset = this.#bytes
    }
    rewriteTiming(fragment, ++this.#sequence, unit.dts - this.#base)
    this.#last = unit
    this.#newest = Math.max(this.#newest, unit.pts)
    this.#append(fragment)
  }

  /** Adds the results of a frame at exactly its time. */
  addResults(record: SinkRecord): void {
    const text = JSON.stringify({ ...record, epoch: this.epoch })
    this.#append(createMetadataFragment(++this.#sequence, record.pts - this.#base, this.#last.duration, text))
  }

  close(): void {
    this.#queue.add({ bytes: 0, run: () => this.#file.close() })
  }

  #append(bytes: Buffer): void {
    this.#bytes += bytes.length
    this.#queue.add({ bytes: bytes.length, run: () => this.#file.append(bytes) })
  }
}
