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

/** A frame ring (pictures in shared memory) written from JavaScript, as media writes it: for benchmarks and tests. */
export interface RingFile {
  readonly path: string
  readonly generation: number
  write(n: number, payload: Uint8Array): void
  close(): void
}

export function createRingFile(path: string, shape: NewRingShape): RingFile {
  const { width, height, format, payloadSize, slots = 4, generation = 1 } = shape
  const content = shape.content ?? { x: 0, y: 0, width, height }
  const stride = Math.ceil((SLOT_HEADER_BYTES + payloadSize) / 4096) * 4096

  const header = Buffer.alloc(RING_HEADER_BYTES)
  const numbers = {
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
  for (const [field, value] of Object.entries(numbers))
    header.writeUInt32LE(value, RING_HEADER[field as keyof typeof numbers])
  header.write(format, RING_HEADER.format, 'latin1')
  header.writeBigUInt64LE(BigInt(stride), RING_HEADER.slotStride)
  header.writeBigUInt64LE(BigInt(payloadSize), RING_HEADER.payloadSize)
  header.writeBigUInt64LE(BigInt(generation), RING_HEADER.generation)

  const fd = openSync(`${path}.new`, 'w')
  ftruncateSync(fd, RING_HEADER_BYTES + slots * stride)
  writeSync(fd, header, 0, header.length, 0)
  renameSync(`${path}.new`, path)

  const writeU64 = (value: number, offset: number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(BigInt(value))
    writeSync(fd, bytes, 0, 8, offset)
  }
  return {
    path,
    generation,
    write: (n, payload) => {
      const slot = RING_HEADER_BYTES + (n % slots) * stride
      writeU64(2 * n - 1, slot + SLOT_HEADER.sequence)
      writeSync(fd, payload, 0, payload.length, slot + SLOT_HEADER.payload)
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32LE(payload.length)
      writeSync(fd, bytes, 0, 4, slot + SLOT_HEADER.payloadBytes)
      writeU64(n, slot + SLOT_HEADER.n)
      writeU64(2 * n, slot + SLOT_HEADER.sequence)
      writeU64(n, RING_HEADER.newest)
    },
    close: () => closeSync(fd),
  }
}
