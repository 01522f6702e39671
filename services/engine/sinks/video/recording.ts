import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { SinkRecord } from '../sink.ts'
import { metadataFragment, withMetadataTrack } from './metadata-track.ts'
import { place, type Unit } from './segments.ts'
import { VideoFile } from './video-file.ts'
import type { WriteQueue } from './write-queue.ts'

export interface RecordingLimits {
  /** A file is ended at the last keyframe before it outgrows this. */
  maxBytes: number
  /** How long a file may be, in seconds, until its next keyframe. */
  maxSeconds: number
  /** How many earlier files are kept. */
  keep: number
}

/** A live view from one of its keyframes on. */
export interface Beginning {
  init: Buffer
  epoch: number
  unit: Unit
}

/** More than a hiccup: the camera was lost. */
const GAP_TICKS = TICKS_PER_SECOND

/** One file: the picture as it was sent, and beside it what was found in each analysed frame. It begins at time 0. */
export class Recording {
  readonly #init: Buffer
  readonly epoch: number
  /** Stream time of its first picture. */
  readonly start: number
  readonly #base: number
  readonly #limits: RecordingLimits
  readonly #file: VideoFile
  readonly #queue: WriteQueue
  #sequence = 0
  #bytes: number
  #groupAt: number
  #longestGroup = 0
  #last: Unit
  #newest: number

  constructor({ init, epoch, unit }: Beginning, path: string, limits: RecordingLimits, queue: WriteQueue) {
    this.#init = init
    this.epoch = epoch
    this.start = unit.pts
    this.#base = unit.dts
    this.#limits = limits
    this.#queue = queue
    this.#last = { ...unit, dts: unit.dts - 1, duration: 0 }
    this.#newest = unit.pts
    this.#file = new VideoFile(path, limits.keep)
    const header = withMetadataTrack(init)
    this.#bytes = header.length
    this.#groupAt = header.length
    queue.add({ bytes: header.length, run: () => this.#file.create(header) })
  }

  /** Stream time of the newest picture that it holds. */
  get newest(): number {
    return this.#newest
  }

  holds(unit: Unit): boolean {
    return unit.dts <= this.#last.dts
  }

  isOf(init: Buffer, epoch: number): boolean {
    return this.epoch === epoch && this.#init.equals(init)
  }

  /** Whether pictures are missing between what it holds and this one, which only a lost camera explains. */
  isBrokenOffBefore(unit: Unit): boolean {
    return unit.dts > this.#last.dts + this.#last.duration + GAP_TICKS
  }

  isFullBefore(keyframe: Unit): boolean {
    const group = Math.max(this.#longestGroup, this.#bytes - this.#groupAt)
    const isLong = keyframe.dts - this.#base >= this.#limits.maxSeconds * TICKS_PER_SECOND
    return isLong || this.#bytes + group > this.#limits.maxBytes
  }

  /** `fragment` becomes the recording's own. */
  write(unit: Unit, fragment: Buffer): void {
    if (unit.keyframe) {
      this.#longestGroup = Math.max(this.#longestGroup, this.#bytes - this.#groupAt)
      this.#groupAt = this.#bytes
    }
    place(fragment, ++this.#sequence, unit.dts - this.#base)
    this.#last = unit
    this.#newest = Math.max(this.#newest, unit.pts)
    this.#append(fragment)
  }

  /** What was found in the frame of this `pts`, at exactly its time. */
  note(record: SinkRecord): void {
    const text = JSON.stringify({ ...record, epoch: this.epoch })
    this.#append(metadataFragment(++this.#sequence, record.pts - this.#base, this.#last.duration, text))
  }

  close(): void {
    this.#queue.add({ bytes: 0, run: () => this.#file.close() })
  }

  #append(bytes: Buffer): void {
    this.#bytes += bytes.length
    this.#queue.add({ bytes: bytes.length, run: () => this.#file.append(bytes) })
  }
}
