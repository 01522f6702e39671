import { closeSync, openSync, readSync } from 'node:fs'
import {
  FLAG_DISCONTINUITY,
  RING_HEADER,
  RING_HEADER_BYTES,
  RING_MAGIC,
  RING_VERSION,
  SLOT_HEADER,
  SLOT_HEADER_BYTES,
} from '@eyrie/contract/ring'
import type { ViewSpec } from '@eyrie/contract/view'

/**
 * A frame ring is a file in shared memory to which the media service writes the frames of a view:
 * the pictures of a source in one size and pixel format. The file has a fixed number of slots; each
 * new frame overwrites the oldest one.
 */

/** Size of the field with the name of the pixel format. */
const FORMAT_BYTES = 8
const U64_BYTES = 8

/** Properties of a ring that never change. Sizes are in pixels, except `payloadSize`. */
export interface RingShape {
  /** Number of frames in the ring. */
  slots: number
  width: number
  height: number
  format: ViewSpec['format']
  /** Maximum size of a picture in bytes. */
  payloadSize: number
  /** Distinguishes rings that were created under the same path. */
  generation: number
  /** Changes when the media service restarts and `pts` starts anew. */
  epoch: number
  sourceWidth: number
  sourceHeight: number
  /** Area of the view that shows the picture of the source. The remaining area is padding. */
  content: { x: number; y: number; width: number; height: number }
}

/**
 * Identifies a ring. If a ring is replaced, the new ring has the same path but another generation.
 */
export interface RingLocation {
  path: string
  generation: number
}

/** Metadata of a frame. */
export interface FrameStamp {
  /** Number of the frame, counted from 1. */
  n: number
  /** Presentation time in 90 kHz ticks. */
  pts: number
  /** Wall-clock time in µs since 1970. */
  time: number
  /** Whether the stream was interrupted before this frame. */
  discontinuity: boolean
  /** Size of the source's picture in pixels. */
  width: number
  height: number
}

/** Metadata of a frame whose picture has been read. */
export interface PictureStamp extends FrameStamp {
  /** Size of the picture in bytes, which varies between JPEG pictures. */
  bytes: number
}

/**
 * Reads frames from a ring without locks, so that readers never block the writer. The methods
 * return `overwritten` if the writer has replaced the frame before or while it was read.
 */
export class RingReader {
  readonly shape: RingShape
  readonly #fd: number
  /** Distance between two slots in bytes. */
  readonly #slotStride: number
  /**
   * Buffer for the header of a slot, which precedes the picture. It is reused, because slots are
   * read for every frame.
   */
  readonly #slot = Buffer.alloc(SLOT_HEADER_BYTES)

  /**
   * Opens the ring at a path, or uses an open file. Throws if the file is not a frame
   * ring of this version.
   */
  constructor(file: string | number) {
    this.#fd = typeof file === 'number' ? file : openSync(file, 'r')
    try {
      const header = Buffer.alloc(RING_HEADER_BYTES)
      const bytesRead = readSync(this.#fd, header, 0, RING_HEADER_BYTES, 0)
      if (bytesRead < RING_HEADER_BYTES || header.readUInt32LE(RING_HEADER.magic) !== RING_MAGIC) {
        throw new Error(`${file} is not a frame ring`)
      }
      const version = header.readUInt32LE(RING_HEADER.version)
      if (version !== RING_VERSION) {
        throw new Error(
          `${file} is a frame ring of version ${version}, not ${RING_VERSION}: run media and engine of one release`,
        )
      }
      this.shape = readShape(header)
      this.#slotStride = Number(header.readBigUInt64LE(RING_HEADER.slotStride))
    } catch (error) {
      closeSync(this.#fd)
      throw error
    }
  }

  /** Returns the number of the newest complete frame; 0 before the first. */
  newest(): number {
    return this.#readU64(RING_HEADER.newest)
  }

  /**
   * Copies the picture of frame `n` to the start of `target`, which must hold at least
   * `payloadSize` bytes.
   */
  read(n: number, target: Uint8Array): PictureStamp | 'overwritten' {
    if (!this.#readHeader(n)) return 'overwritten'
    const stamp = { ...this.#toStamp(n), bytes: this.#pictureSize() }
    const copied = readSync(
      this.#fd,
      target,
      0,
      stamp.bytes,
      this.#slotOffset(n) + SLOT_HEADER.payload,
    )
    return copied === stamp.bytes && this.#holdsFrame(n) ? stamp : 'overwritten'
  }

  /**
   * Copies a part of the picture of frame `n` to `target`: as many bytes as it holds,
   * from byte `start` on.
   */
  readPart(n: number, start: number, target: Uint8Array): FrameStamp | 'overwritten' {
    const offset = this.#slotOffset(n) + SLOT_HEADER.payload + start
    const copied = readSync(this.#fd, target, 0, target.length, offset)
    return copied === target.length ? this.readStamp(n) : 'overwritten'
  }

  /** Returns a copy of the picture of frame `n`. */
  copy(n: number): Uint8Array | 'overwritten' {
    if (!this.#readHeader(n)) return 'overwritten'
    const picture = new Uint8Array(this.#pictureSize())
    const copied = readSync(
      this.#fd,
      picture,
      0,
      picture.length,
      this.#slotOffset(n) + SLOT_HEADER.payload,
    )
    return copied === picture.length && this.#holdsFrame(n) ? picture : 'overwritten'
  }

  /** Returns the metadata of frame `n`. */
  readStamp(n: number): FrameStamp | 'overwritten' {
    if (!this.#readHeader(n)) return 'overwritten'
    const stamp = this.#toStamp(n)
    return this.#holdsFrame(n) ? stamp : 'overwritten'
  }

  close(): void {
    closeSync(this.#fd)
  }

  /**
   * Reads the header of the slot of frame `n` into the buffer. Returns false if the
   * file ends before it.
   */
  #readHeader(n: number): boolean {
    return (
      readSync(this.#fd, this.#slot, 0, SLOT_HEADER_BYTES, this.#slotOffset(n)) ===
      SLOT_HEADER_BYTES
    )
  }

  #toStamp(n: number): FrameStamp {
    const slot = this.#slot
    return {
      n,
      pts: Number(slot.readBigInt64LE(SLOT_HEADER.pts)),
      time: Number(slot.readBigInt64LE(SLOT_HEADER.time)),
      discontinuity: (slot.readUInt32LE(SLOT_HEADER.flags) & FLAG_DISCONTINUITY) !== 0,
      width: this.shape.sourceWidth,
      height: this.shape.sourceHeight,
    }
  }

  /** The slot is as large as the largest picture. */
  #pictureSize(): number {
    return Math.min(this.#slot.readUInt32LE(SLOT_HEADER.payloadBytes), this.shape.payloadSize)
  }

  /**
   * Whether the slot of frame `n` still holds that frame. Must be called after everything else has
   * been read, because the writer may overwrite the slot at any time. The sequence number is 2n for
   * a complete frame and odd during a write.
   */
  #holdsFrame(n: number): boolean {
    return this.#readU64(this.#slotOffset(n) + SLOT_HEADER.sequence) === 2 * n
  }

  #slotOffset(n: number): number {
    return RING_HEADER_BYTES + (n % this.shape.slots) * this.#slotStride
  }

  /** Returns 0 if the file ends before the number. */
  #readU64(offset: number): number {
    const bytesRead = readSync(this.#fd, this.#slot, 0, U64_BYTES, offset)
    return bytesRead === U64_BYTES ? Number(this.#slot.readBigUInt64LE(0)) : 0
  }
}

function readShape(header: Buffer): RingShape {
  const u32 = (offset: number) => header.readUInt32LE(offset)
  const u64 = (offset: number) => Number(header.readBigUInt64LE(offset))
  return {
    slots: u32(RING_HEADER.slots),
    width: u32(RING_HEADER.width),
    height: u32(RING_HEADER.height),
    format: readFormat(header),
    payloadSize: u64(RING_HEADER.payloadSize),
    generation: u64(RING_HEADER.generation),
    epoch: u64(RING_HEADER.epoch),
    sourceWidth: u32(RING_HEADER.sourceWidth),
    sourceHeight: u32(RING_HEADER.sourceHeight),
    content: {
      x: u32(RING_HEADER.contentX),
      y: u32(RING_HEADER.contentY),
      width: u32(RING_HEADER.contentWidth),
      height: u32(RING_HEADER.contentHeight),
    },
  }
}

/** The format is padded with zero bytes. */
function readFormat(header: Buffer): ViewSpec['format'] {
  const text = header.toString('latin1', RING_HEADER.format, RING_HEADER.format + FORMAT_BYTES)
  return text.replace(/\0+$/, '') as ViewSpec['format']
}
