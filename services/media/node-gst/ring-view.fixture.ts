import { closeSync, openSync, readSync } from 'node:fs'
import { RING_HEADER, RING_HEADER_BYTES, SLOT_HEADER } from '@eyrie/contract/ring'

/** Reads a ring with `pread`, as external readers do. */
export class RingView {
  readonly #file: number

  constructor(path: string) {
    this.#file = openSync(path, 'r')
  }

  header<K extends keyof typeof RING_HEADER>(field: K): number {
    const offset = RING_HEADER[field]
    const is64Bit = ['slotStride', 'payloadSize', 'generation', 'epoch', 'newest'].includes(field)
    return is64Bit ? this.#u64(offset) : this.bytes(offset, 4).readUInt32LE()
  }

  format(): string {
    return this.bytes(RING_HEADER.format, 8).toString('latin1').replace(/\0+$/, '')
  }

  stamp(n: number) {
    const offset = this.#slot(n)
    return {
      sequence: this.sequence(n),
      n: this.#u64(offset + SLOT_HEADER.n),
      pts: this.#u64(offset + SLOT_HEADER.pts),
      timeUs: this.#u64(offset + SLOT_HEADER.time),
      flags: this.bytes(offset + SLOT_HEADER.flags, 4).readUInt32LE(),
    }
  }

  sequence(n: number): number {
    return this.#u64(this.#slot(n) + SLOT_HEADER.sequence)
  }

  payload(n: number): Buffer {
    return this.bytes(this.#slot(n) + SLOT_HEADER.payload, this.header('payloadSize'))
  }

  payloadBytes(n: number): number {
    return this.bytes(this.#slot(n) + SLOT_HEADER.payloadBytes, 4).readUInt32LE()
  }

  bytes(offset: number, length: number): Buffer {
    const bytes = Buffer.alloc(length)
    readSync(this.#file, bytes, 0, length, offset)
    return bytes
  }

  close() {
    closeSync(this.#file)
  }

  #slot(n: number): number {
    return RING_HEADER_BYTES + (n % this.header('slots')) * this.header('slotStride')
  }

  #u64(offset: number): number {
    return Number(this.bytes(offset, 8).readBigUInt64LE())
  }
}
