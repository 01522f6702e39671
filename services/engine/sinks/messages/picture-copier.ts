import { type RingLocation, RingReader, type RingShape } from '../../frames/ring-reader.ts'

/**
 * The picture of a frame, copied so that it remains valid when the media service reuses its memory.
 */
export interface CopiedPicture extends Pick<RingShape, 'width' | 'height' | 'format'> {
  data: Uint8Array
}

interface OpenRing {
  location: RingLocation
  reader: RingReader
  lastReadAt: number
}

/**
 * Unused ring buffers are closed after this time. A buffer that the media service has removed is
 * freed when it is closed.
 */
const MAX_IDLE_MS = 5000

/**
 * Copies pictures out of the ring buffers in shared memory, to which the media service writes the
 * frames of each channel.
 */
export class PictureCopier {
  readonly #rings = new Map<number, OpenRing>()

  /** Returns the picture of frame `n`; undefined if the ring buffer does not contain it. */
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
    const ring = this.#rings.get(channel)
    if (ring && isSameRing(ring.location, location)) {
      ring.lastReadAt = now
      return ring.reader
    }

    this.#closeIdleRings(now)
    this.#closeRing(channel)
    try {
      const reader = new RingReader(location.path)
      this.#rings.set(channel, { location, reader, lastReadAt: now })
      return reader
    } catch {
      // The media service has removed this buffer and will announce another one.
      return undefined
    }
  }

  #closeIdleRings(now: number): void {
    for (const [channel, { lastReadAt }] of this.#rings) {
      if (now - lastReadAt > MAX_IDLE_MS) this.#closeRing(channel)
    }
  }

  #closeRing(channel: number): void {
    this.#rings.get(channel)?.reader.close()
    this.#rings.delete(channel)
  }
}

function isSameRing(a: RingLocation, b: RingLocation): boolean {
  return a.path === b.path && a.generation === b.generation
}
