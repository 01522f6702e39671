import { closeSync, openSync } from 'node:fs'
import { createDescriptorSockets, sendDescriptor } from '@eyrie/kit/descriptors/descriptors'
import type { RingLocation } from '../../frames/ring-reader.ts'

/**
 * Sends frame rings to a process as open files that it can only read. It learns neither where rings are stored nor of any
 * other ring.
 */
export class RingSender {
  /** The socket that the process inherits. */
  readonly inherited: number
  readonly #socket: number
  #sent: RingLocation | undefined
  #count = 0
  #isClosed = false

  constructor() {
    ;[this.#socket, this.inherited] = createDescriptorSockets()
  }

  /**
   * Returns how the process knows the ring, and sends it before its first use. Returns undefined if the media service has
   * removed the ring.
   */
  send(ring: RingLocation): RingLocation | undefined {
    const isSent = this.#sent?.path === ring.path && this.#sent.generation === ring.generation
    if (!isSent && !this.#sendFile(ring)) return undefined
    return { path: `ring ${this.#count}`, generation: ring.generation }
  }

  #sendFile(ring: RingLocation): boolean {
    try {
      const file = openSync(ring.path, 'r')
      const isSent = sendDescriptor(this.#socket, file)
      closeSync(file)
      if (!isSent) return false
    } catch {
      return false
    }
    this.#sent = ring
    this.#count += 1
    return true
  }

  /** Closes the socket of the process, which has inherited it. */
  closeInherited(): void {
    closeSync(this.inherited)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closeSync(this.#socket)
  }
}
