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

/** The constant properties of a ring. Sizes in pixels, `payloadSize` in bytes. */
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
  /** Area of the view that the source's picture covers; the rest is padding. */
  content: { x: number; y: number; width: number; height: number }
}

/** Current location of a view's frames. A replaced ring has the same path and another generation. */
export interface RingLocation {
  path: string
  generation: number
}

/** Metadata of a frame: `pts` in 90 kHz ticks, `time` in µs since 1970, size of the source's picture in pixels. */
export interface FrameStamp {
  n: number
  pts: number
  time: number
  discontinuity: boolean
  width: number
  height: number
}

/**
 * Reads frames from a ring in shared memory. It needs no write access and never blocks the writer: for a frame that was
 * overwritten before or during the copy, methods return `overwritten`.
 */
export class RingReader {
  readonly shape: RingShape
  readonly #fd: number
  readonly #slotStride: number
  readonly #slot = Buffer.alloc(SLOT_HEADER_BYTES)

  /** Throws if `path` is not a frame ring of this version. */
  constructor(path: string) {
    this.#fd = openSync(path, 'r')
    try {
      const header = Buffer.alloc(RING_HEADER_BYTES)
      const bytes = readSync(this.#fd, header, 0, RING_HEADER_BYTES, 0)
      if (bytes < RING_HEADER_BYTES || header.readUInt32LE(ringHeader.magic) !== RING_MAGIC) {
        throw new Error(`${path} is not a frame ring`)
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

  /** Number of the newest complete frame; 0 before the first. */
  newest(): number {
    return this.#readU64(ringHeader.newest)
  }

  /** Copies the picture of frame `n` to `target`, which must have room for `payloadSize` bytes. */
  read(n: number, target: Uint8Array): FrameStamp | 'overwritten' {
    const { payloadSize } = this.shape
    const copied = readSync(this.#fd, target, 0, payloadSize, this.#slotOffset(n) + slotHeader.payload)
    return copied === payloadSize ? this.readStamp(n) : 'overwritten'
  }

  /** Returns a copy of the picture of frame `n`, without unused bytes. */
  copy(n: number): Uint8Array | 'overwritten' {
    const offset = this.#slotOffset(n)
    const slot = this.#slot
    if (readSync(this.#fd, slot, 0, SLOT_HEADER_BYTES, offset) !== SLOT_HEADER_BYTES) return 'overwritten'
    const bytes = Math.min(slot.readUInt32LE(slotHeader.payloadBytes), this.shape.payloadSize)
    const picture = new Uint8Array(bytes)
    const copied = readSync(this.#fd, picture, 0, bytes, offset + slotHeader.payload)
    return copied === bytes && this.#readU64(offset + slotHeader.sequence) === 2 * n ? picture : 'overwritten'
  }

  /** Reads the metadata of frame `n`. */
  readStamp(n: number): FrameStamp | 'overwritten' {
    const offset = this.#slotOffset(n)
    const slot = this.#slot
    if (readSync(this.#fd, slot, 0, SLOT_HEADER_BYTES, offset) !== SLOT_HEADER_BYTES) return 'overwritten'
    const stamp = {
      n,
      pts: Number(slot.readBigInt64LE(slotHeader.pts)),
      time: Number(slot.readBigInt64LE(slotHeader.time)),
      discontinuity: (slot.readUInt32LE(slotHeader.flags) & FLAG_DISCONTINUITY) !== 0,
      width: this.shape.sourceWidth,
      height: this.shape.sourceHeight,
    }
    // The sequence number is read last: the writer may overwrite the slot while it is being read.
    return this.#readU64(offset + slotHeader.sequence) === 2 * n ? stamp : 'overwritten'
  }

  close(): void {
    closeSync(this.#fd)
  }

  #slotOffset(n: number): number {
    return RING_HEADER_BYTES + (n % this.shape.slots) * this.#slotStride
  }

  #readU64(offset: number): number {
    return readSync(this.#fd, this.#slot, 0, 8, offset) === 8 ? Number(this.#slot.readBigUInt64LE(0)) : 0
  }
}

function readShape(header: Buffer): RingShape {
  const u32 = (offset: number) => header.readUInt32LE(offset)
  const u64 = (offset: number) => Number(header.readBigUInt64LE(offset))
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
