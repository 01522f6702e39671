import { closeSync, openSync, readSync } from 'node:fs'
import {
  FLAG_DISCONTINUITY,
  RING_HEADER_BYTES,
  RING_MAGIC,
  RING_VERSION,
  ringHeader,
  SLOT_HEADER_BYTES,
  slotHeader,
} from '@eyrie/contract/ring'
import type { ViewSpec } from '@eyrie/contract/view'

const FORMAT_BYTES = 8

/** What does not change while a ring lives. Sizes in pixels, `payloadSize` in bytes. */
export interface RingShape {
  slots: number
  width: number
  height: number
  format: ViewSpec['format']
  payloadSize: number
  generation: number
  epoch: number
  sourceWidth: number
  sourceHeight: number
  /** Where the source's picture lies inside the view; the rest is padding. */
  content: { x: number; y: number; width: number; height: number }
}

/** Where the frames of a view are now. A ring that is replaced keeps its path and changes its generation. */
export interface RingPlace {
  path: string
  generation: number
}

/** What a ring says of a frame: `pts` in 90 kHz ticks, `time` in µs since 1970, the source's size in pixels. */
export interface FrameStamp {
  n: number
  pts: number
  time: number
  discontinuity: boolean
  width: number
  height: number
}

/**
 * Reads frames out of a ring without the writer's help. It needs no write access and holds nothing up: a frame that
 * was overwritten before or while it was copied is answered with `overtaken`.
 */
export class RingReader {
  readonly shape: RingShape
  readonly #fd: number
  readonly #slotStride: number
  readonly #slot = Buffer.alloc(SLOT_HEADER_BYTES)

  /** Throws if there is no ring at `path`, or one of another layout. */
  constructor(path: string) {
    this.#fd = openSync(path, 'r')
    try {
      const header = Buffer.alloc(RING_HEADER_BYTES)
      const bytes = readSync(this.#fd, header, 0, RING_HEADER_BYTES, 0)
      if (bytes < RING_HEADER_BYTES || header.readUInt32LE(ringHeader.magic) !== RING_MAGIC) {
        throw new Error(`${path} is no frame ring`)
      }
      const version = header.readUInt32LE(ringHeader.version)
      if (version !== RING_VERSION) {
        throw new Error(
          `${path} is a frame ring of version ${version}, not ${RING_VERSION}: run media and engine of one release`,
        )
      }
      this.shape = readShape(header)
      this.#slotStride = Number(header.readBigUInt64LE(ringHeader.slotStride))
    } catch (error) {
      closeSync(this.#fd)
      throw error
    }
  }

  /** Number of the newest whole frame; 0 before the first. */
  newest(): number {
    return this.#u64(ringHeader.newest)
  }

  /** Copies the picture of frame `n` into `into`, which must hold `payloadSize` bytes. */
  read(n: number, into: Uint8Array): FrameStamp | 'overtaken' {
    const { payloadSize } = this.shape
    const copied = readSync(this.#fd, into, 0, payloadSize, this.#at(n) + slotHeader.payload)
    return copied === payloadSize ? this.stamp(n) : 'overtaken'
  }

  /** A copy of the picture of frame `n`, as many bytes as it has. */
  copy(n: number): Uint8Array | 'overtaken' {
    const at = this.#at(n)
    const slot = this.#slot
    if (readSync(this.#fd, slot, 0, SLOT_HEADER_BYTES, at) !== SLOT_HEADER_BYTES) return 'overtaken'
    const bytes = Math.min(slot.readUInt32LE(slotHeader.payloadBytes), this.shape.payloadSize)
    const picture = new Uint8Array(bytes)
    const copied = readSync(this.#fd, picture, 0, bytes, at + slotHeader.payload)
    return copied === bytes && this.#u64(at + slotHeader.sequence) === 2 * n ? picture : 'overtaken'
  }

  /** What frame `n`'s slot says of it, without its picture. */
  stamp(n: number): FrameStamp | 'overtaken' {
    const at = this.#at(n)
    const slot = this.#slot
    if (readSync(this.#fd, slot, 0, SLOT_HEADER_BYTES, at) !== SLOT_HEADER_BYTES) return 'overtaken'
    const stamp = {
      n,
      pts: Number(slot.readBigInt64LE(slotHeader.pts)),
      time: Number(slot.readBigInt64LE(slotHeader.time)),
      discontinuity: (slot.readUInt32LE(slotHeader.flags) & FLAG_DISCONTINUITY) !== 0,
      width: this.shape.sourceWidth,
      height: this.shape.sourceHeight,
    }
    // The sequence comes last: were it read first, the writer could come between.
    return this.#u64(at + slotHeader.sequence) === 2 * n ? stamp : 'overtaken'
  }

  close(): void {
    closeSync(this.#fd)
  }

  #at(n: number): number {
    return RING_HEADER_BYTES + (n % this.shape.slots) * this.#slotStride
  }

  #u64(at: number): number {
    return readSync(this.#fd, this.#slot, 0, 8, at) === 8 ? Number(this.#slot.readBigUInt64LE(0)) : 0
  }
}

function readShape(header: Buffer): RingShape {
  const u32 = (at: number) => header.readUInt32LE(at)
  const u64 = (at: number) => Number(header.readBigUInt64LE(at))
  return {
    slots: u32(ringHeader.slots),
    width: u32(ringHeader.width),
    height: u32(ringHeader.height),
    format: header
      .toString('latin1', ringHeader.format, ringHeader.format + FORMAT_BYTES)
      .replace(/\0+$/, '') as ViewSpec['format'],
    payloadSize: u64(ringHeader.payloadSize),
    generation: u64(ringHeader.generation),
    epoch: u64(ringHeader.epoch),
    sourceWidth: u32(ringHeader.sourceWidth),
    sourceHeight: u32(ringHeader.sourceHeight),
    content: {
      x: u32(ringHeader.contentX),
      y: u32(ringHeader.contentY),
      width: u32(ringHeader.contentWidth),
      height: u32(ringHeader.contentHeight),
    },
  }
}
