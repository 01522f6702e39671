import { closeSync, ftruncateSync, openSync, renameSync, writeSync } from 'node:fs'
import {
  RING_HEADER,
  RING_HEADER_BYTES,
  RING_MAGIC,
  RING_VERSION,
  SLOT_HEADER,
  SLOT_HEADER_BYTES,
} from '@eyrie/contract/ring'
import type { RingShape } from './ring-reader.ts'

/** The shape of a new ring. By default, it has four slots, and the source fills the whole view. */
export type NewRingShape = Pick<RingShape, 'width' | 'height' | 'format' | 'payloadSize'> &
  Partial<Pick<RingShape, 'slots' | 'generation' | 'content'>>

/**
 * A frame ring: a file in shared memory with a fixed number of slots, in which each new picture
 * overwrites the oldest one. The media service writes the rings of sources. This implementation is
 * for benchmarks and tests, including those of plugins.
 */
export interface RingFile {
  readonly path: string
  readonly generation: number
  /** Writes the picture of frame `n`, counted from 1. */
  write(n: number, payload: Uint8Array): void
  close(): void
}

/** Size of a page of memory. Each slot begins with a new page. */
const PAGE_BYTES = 4096

export function createRingFile(path: string, shape: NewRingShape): RingFile {
  const { width, height, payloadSize, slots = 4, generation = 1 } = shape
  const content = shape.content ?? { x: 0, y: 0, width, height }
  const slotStride = Math.ceil((SLOT_HEADER_BYTES + payloadSize) / PAGE_BYTES) * PAGE_BYTES
  const header = encodeHeader({ ...shape, slots, generation, content, slotStride })
  const fd = createFile(path, header, RING_HEADER_BYTES + slots * slotStride)

  return {
    path,
    generation,
    write: (n, payload) => {
      const slot = RING_HEADER_BYTES + (n % slots) * slotStride
      // The sequence number is odd while the slot is written, so that readers do not use
      // the incomplete frame.
      writeU64(fd, 2 * n - 1, slot + SLOT_HEADER.sequence)
      writeSync(fd, payload, 0, payload.length, slot + SLOT_HEADER.payload)
      writeU32(fd, payload.length, slot + SLOT_HEADER.payloadBytes)
      writeU64(fd, n, slot + SLOT_HEADER.n)
      writeU64(fd, 2 * n, slot + SLOT_HEADER.sequence)
      writeU64(fd, n, RING_HEADER.newest)
    },
    close: () => closeSync(fd),
  }
}

interface HeaderFields extends Required<NewRingShape> {
  /** Distance between two slots in bytes. */
  slotStride: number
}

function encodeHeader(fields: HeaderFields): Buffer {
  const { width, height, format, slots, content, slotStride, payloadSize, generation } = fields
  const header = Buffer.alloc(RING_HEADER_BYTES)
  const u32Fields = {
    magic: RING_MAGIC,
    version: RING_VERSION,
    slots,
    width,
    height,
    // The picture of the source is as large as the area that shows it: it is not scaled.
    sourceWidth: content.width,
    sourceHeight: content.height,
    contentX: content.x,
    contentY: content.y,
    contentWidth: content.width,
    contentHeight: content.height,
  }
  for (const [name, value] of Object.entries(u32Fields)) {
    header.writeUInt32LE(value, RING_HEADER[name as keyof typeof u32Fields])
  }
  const u64Fields = { slotStride, payloadSize, generation }
  for (const [name, value] of Object.entries(u64Fields)) {
    header.writeBigUInt64LE(BigInt(value), RING_HEADER[name as keyof typeof u64Fields])
  }
  header.write(format, RING_HEADER.format, 'latin1')
  return header
}

/** Creates the file of a ring, and returns its descriptor. */
function createFile(path: string, header: Buffer, size: number): number {
  // The file gets its final name when its header is complete, so that no reader
  // opens an incomplete ring.
  const draft = `${path}.new`
  const fd = openSync(draft, 'w')
  ftruncateSync(fd, size)
  writeSync(fd, header, 0, header.length, 0)
  renameSync(draft, path)
  return fd
}

function writeU32(fd: number, value: number, offset: number): void {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  writeSync(fd, bytes, 0, bytes.length, offset)
}

function writeU64(fd: number, value: number, offset: number): void {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  writeSync(fd, bytes, 0, bytes.length, offset)
}
