import type { Picture } from '@eyrie/element'
import type { RingLocation, RingReader } from '../../frames/ring-reader.ts'

/**
 * Reads pictures of a view (picture size and pixel format) from its frame ring in shared memory
 * into a buffer that is reused. Switches to the new ring when the ring is replaced.
 */
export class PictureReader {
  readonly #openRing: (location: RingLocation) => RingReader
  #location: RingLocation | undefined
  #reader: RingReader | undefined
  #data = new Uint8Array()

  /** `openRing` throws if the ring has been removed. */
  constructor(openRing: (location: RingLocation) => RingReader) {
    this.#openRing = openRing
  }

  /** Returns the picture of frame `n`. Its data is valid until the next call. */
  read(location: RingLocation, n: number): Picture | 'overwritten' {
    const reader = this.#findReader(location)
    const stamp = reader?.read(n, this.#data) ?? 'overwritten'
    if (!reader || stamp === 'overwritten') return 'overwritten'
    const { width, height, format, content } = reader.shape
    return { width, height, format, content, data: this.#data.subarray(0, stamp.bytes) }
  }

  #findReader(location: RingLocation): RingReader | undefined {
    const current = this.#location
    const isOpen = location.path === current?.path && location.generation === current.generation
    if (isOpen) return this.#reader

    this.#reader?.close()
    this.#reader = undefined
    this.#location = undefined
    try {
      this.#reader = this.#openRing(location)
    } catch {
      // The media service has removed the ring and will announce a new one.
      return undefined
    }

    this.#location = location
    this.#data = new Uint8Array(this.#reader.shape.payloadSize)
    return this.#reader
  }
}
