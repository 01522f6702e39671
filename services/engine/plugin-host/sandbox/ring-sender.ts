import { closeSync, openSync } from 'node:fs'
import { createDescriptorSockets, sendDescriptor } from '@eyrie/kit/descriptors/descriptors'
import type { RingLocation } from '../../frames/ring-reader.ts'

/**
 * Sends frame rings, which contain the pictures of a source, to a process. The process receives
 * each ring as an open file that it can only read. It learns neither where rings are stored nor
 * that there are other rings.
 */
export class RingSender {
  /** Descriptor of the other end of the socket, which the process inherits. */
  readonly inherited: number
  /** Descriptor of the engine's end of the socket. */
  readonly #socket: number
  /** The ring that was sent last. */
  #lastSent: RingLocation | undefined
  #sentCount = 0
  #isClosed = false

  constructor() {
    const [socket, inherited] = createDescriptorSockets()
    this.#socket = socket
    this.inherited = inherited
  }

  /**
   * Sends a ring, unless it is the one that was sent last. Returns the location under which the
   * process knows the ring; undefined if the media service has removed it.
   */
  send(ring: RingLocation): RingLocation | undefined {
    const last = this.#lastSent
    const isSent = last?.path === ring.path && last.generation === ring.generation
    if (!isSent && !this.#sendFile(ring)) return undefined
    return { path: `ring ${this.#sentCount}`, generation: ring.generation }
  }

  #sendFile(ring: RingLocation): boolean {
    if (!trySendFile(this.#socket, ring.path)) return false
    this.#lastSent = ring
    this.#sentCount += 1
    return true
  }

  /** Closes the engine's copy of the inherited socket. Called when the process has started. */
  closeInherited(): void {
    closeSync(this.inherited)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closeSync(this.#socket)
  }
}

/** Sends a file as a descriptor. Returns false if the file no longer exists or is not sent. */
function trySendFile(socket: number, path: string): boolean {
  try {
    const file = openSync(path, 'r')
    try {
      return sendDescriptor(socket, file)
    } finally {
      closeSync(file)
    }
  } catch {
    return false
  }
}
