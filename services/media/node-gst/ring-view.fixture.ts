import { closeSync, openSync, readSync } from 'node:fs'
import { RING_HEADER_BYTES, ringHeader, slotHeader } from '@eyrie/contract/ring'

/** Reads a ring with `pread`, as external readers do. */
export class RingView {
  readonly #file: number

  constructor(path: string) {
    this.#file = openSync(path, 'r')
  }

  header<K extends keyof typeof ringHeader>(field: K): number {
    const offset = ringHeader[field]
    const is64Bit = ['slotStride', 'payloadSize', 'generation', 'epoch', 'newest'].includes(field)
    return is64Bit ? this.#u64(offset) : this.bytes(offset, 4).readUInt32LE()
  }

  format(): string {
    return this.bytes(ringHeader.format, 8).toString('latin1').replace(/\0+$/, '')
  }

  stamp(n: number) {
    const offset = this.#slot(n)
    return {
      sequence: this.sequence(n),
      n: this.#u64(offset + slotHeader.n),
      pts: this.#u64(offset + slotHeader.pts),
      timeUs: this.#u64(offset + slotHeader.time),
      flags: this.bytes(offset + slotHeader.flags, 4).readUInt32LE(),
    }
  }

  sequence(n: number): number {
    return this.#u64(this.#slot(n) + slotHeader.sequence)
  }

  payload(n: number): Buffer {
    return this.bytes(this.#slot(n) + slotHeader.payload, this.header('payloadSize'))
  }

  payloadBytes(n: number): number {
    return this.bytes(this.#slot(n) + slotHeader.payloadBytes, 4).readUInt32LE()
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
