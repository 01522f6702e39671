import type { RingPlace } from '../../frames/ring-reader.ts'
import { RingReader, type RingShape } from '../../frames/ring-reader.ts'

export interface CopiedPicture extends Pick<RingShape, 'width' | 'height' | 'format'> {
  data: Uint8Array
}

interface OpenRing {
  place: RingPlace
  reader: RingReader
  readAt: number
}

/** A ring that is removed stays in memory as long as somebody holds it open. */
const UNREAD_MS = 5000

/** Copies pictures out of the rings of several channels. */
export class PictureCopies {
  readonly #open = new Map<number, OpenRing>()

  /** The picture of frame `n`; undefined where it is not, or no longer, in the ring. */
  copy(channel: number, place: RingPlace, n: number): CopiedPicture | undefined {
    const reader = this.#readerAt(channel, place)
    const data = reader?.copy(n)
    if (!reader || !(data instanceof Uint8Array)) return undefined
    const { width, height, format } = reader.shape
    return { data, width, height, format }
  }

  close(): void {
    for (const channel of [...this.#open.keys()]) this.#drop(channel)
  }

  #readerAt(channel: number, place: RingPlace): RingReader | undefined {
    const now = performance.now()
    const known = this.#open.get(channel)
    if (known && known.place.path === place.path && known.place.generation === place.generation) {
      known.readAt = now
      return known.reader
    }
    for (const [other, { readAt }] of this.#open) if (now - readAt > UNREAD_MS) this.#drop(other)
    this.#drop(channel)
    try {
      const reader = new RingReader(place.path)
      this.#open.set(channel, { place, reader, readAt: now })
      return reader
    } catch {
      // Media has taken the ring away; the channel hears of the next one.
      return undefined
    }
  }

  #drop(channel: number): void {
    this.#open.get(channel)?.reader.close()
    this.#open.delete(channel)
  }
}
