import { type RingLocation, RingReader, type RingShape } from '../../frames/ring-reader.ts'

export interface CopiedPicture extends Pick<RingShape, 'width' | 'height' | 'format'> {
  data: Uint8Array
}

interface OpenRing {
  location: RingLocation
  reader: RingReader
  lastReadAt: number
}

/** Unused rings are closed after this time: a removed ring occupies memory while it is open. */
const IDLE_MS = 5000

/** Copies pictures from the rings of several channels. */
export class PictureCopier {
  readonly #rings = new Map<number, OpenRing>()

  /** Returns the picture of frame `n`, or undefined if the ring does not hold it. */
  copy(channel: number, location: RingLocation, n: number): CopiedPicture | undefined {
    const reader = this.#openReader(channel, location)
    const data = reader?.copy(n)
    if (!reader || !(data instanceof Uint8Array)) return undefined
    const { width, height, format } = reader.shape
    return { data, width, height, format }
  }

  close(): void {
    for (const channel of [...this.#rings.keys()]) this.#closeRing(channel)
  }

  #openReader(channel: number, location: RingLocation): RingReader | undefined {
    const now = performance.now()
    const open = this.#rings.get(channel)
    if (open && open.location.path === location.path && open.location.generation === location.generation) {
      open.lastReadAt = now
      return open.reader
    }
    for (const [other, { lastReadAt }] of this.#rings) if (now - lastReadAt > IDLE_MS) this.#closeRing(other)
    this.#closeRing(channel)
    try {
      const reader = new RingReader(location.path)
      this.#rings.set(channel, { location, reader, lastReadAt: now })
      return reader
    } catch {
      // Media removed the ring in the meantime and will announce its replacement.
      return undefined
    }
  }

  #closeRing(channel: number): void {
    this.#rings.get(channel)?.reader.close()
    this.#rings.delete(channel)
  }
}
