import type { Picture } from '@eyrie/element'
import type { RingPlace } from '../frames/ring-reader.ts'
import { RingReader } from '../frames/ring-reader.ts'

/** Reads the pictures of one view into the same memory again and again, whichever ring they come to lie in. */
export class PictureReader {
  #place: RingPlace | undefined
  #reader: RingReader | undefined
  #data = new Uint8Array()

  /** Valid until the next one is read. */
  read(place: RingPlace, n: number): Picture | 'overtaken' {
    const reader = this.#readerAt(place)
    if (!reader || reader.read(n, this.#data) === 'overtaken') return 'overtaken'
    const { width, height, format, content } = reader.shape
    return { width, height, format, content, data: this.#data }
  }

  #readerAt(place: RingPlace): RingReader | undefined {
    if (place.path === this.#place?.path && place.generation === this.#place.generation) return this.#reader
    this.#reader?.close()
    this.#reader = undefined
    this.#place = undefined
    try {
      this.#reader = new RingReader(place.path)
    } catch {
      // Media has taken the ring away; it tells the channel of the next one.
      return undefined
    }
    this.#place = place
    this.#data = new Uint8Array(this.#reader.shape.payloadSize)
    return this.#reader
  }
}
