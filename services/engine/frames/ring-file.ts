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
  const { width, height, format, payloadSize, slots = 4, generation = 1 } = shape
  const content = shape.content ?? { x: 0, y: 0, width, height }
  const stride = Math.ceil((SLOT_HEADER_BYTES + payloadSize) / PAGE_BYTES) * PAGE_BYTES

  const header = Buffer.alloc(RING_HEADER_BYTES)
  const fields = {
    magic: RING_MAGIC,
    version: RING_VERSION,
    slots,
    width,
    height,
    sourceWidth: content.width,
    sourceHeight: content.height,
    contentX: content.x,
    contentY: content.y,
    contentWidth: content.width,
    contentHeight: content.height,
  }
  for (const [name, value] of Object.entries(fields)) {
    header.writeUInt32LE(value, RING_HEADER[name as keyof typeof fields])
  }
  header.write(format, RING_HEADER.format, 'latin1')
  header.writeBigUInt64LE(BigInt(stride), RING_HEADER.slotStride)
  header.writeBigUInt64LE(BigInt(payloadSize), RING_HEADER.payloadSize)
  header.writeBigUInt64LE(BigInt(generation), RING_HEADER.generation)

  // The file gets its final name when its header is complete, so that no reader
  // opens an incomplete ring.
  const fd = openSync(`${path}.new`, 'w')
  ftruncateSync(fd, RING_HEADER_BYTES + slots * stride)
  writeSync(fd, header, 0, header.length, 0)
  renameSync(`${path}.new`, path)

  const writeU32 = (value: number, offset: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(value)
    writeSync(fd, bytes, 0, bytes.length, offset)
  }
  const writeU64 = (value: number, offset: number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(BigInt(value))
    writeSync(fd, bytes, 0, bytes.length, offset)
  }
  return {
    path,
    generation,
    write: (n, payload) => {
      const slot = RING_HEADER_BYTES + (n % slots) * stride
      // The sequence number is odd while the slot is written, so that readers do not use
      // the incomplete frame.
      writeU64(2 * n - 1, slot + SLOT_HEADER.sequence)
      writeSync(fd, payload, 0, payload.length, slot + SLOT_HEADER.payload)
      writeU32(payload.length, slot + SLOT_HEADER.payloadBytes)
      writeU64(n, slot + SLOT_HEADER.n)
      writeU64(2 * n, slot + SLOT_HEADER.sequence)
      writeU64(n, RING_HEADER.newest)
    },
    close: () => closeSync(fd),
  }
}
