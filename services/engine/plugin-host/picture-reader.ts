import type { Picture } from '@eyrie/element'
import { type RingLocation, RingReader } from '../frames/ring-reader.ts'

/** Reads pictures of one view into a reused buffer, and reopens the ring after it was replaced. */
export class PictureReader {
  #location: RingLocation | undefined
  #reader: RingReader | undefined
  #data = new Uint8Array()

  /** The returned picture is valid until the next call. */
  read(location: RingLocation, n: number): Picture | 'overwritten' {
    const reader = this.#openReader(location)
    if (!reader || reader.read(n, this.#data) === 'overwritten') return 'overwritten'
    const { width, height, format, content } = reader.shape
    return { width, height, format, content, data: this.#data }
  }

  #openReader(location: RingLocation): RingReader | undefined {
    if (location.path === this.#location?.path && location.generation === this.#location.generation)
      return this.#reader
    this.#reader?.close()
    this.#reader = undefined
    this.#location = undefined
    try {
      this.#reader = new RingReader(location.path)
    } catch {
      // Media removed the ring in the meantime and will announce its replacement.
      return undefined
    }
    this.#location = location
    this.#data = new Uint8Array(this.#reader.shape.payloadSize)
    return this.#reader
  }
}
