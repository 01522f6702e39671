import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { ViewSpec } from '@eyrie/contract/view'
import type { InferenceClient, ViewRequest } from './inference-client.ts'

/** A source that delivers no picture of another view within this time loses no frames, because it has none. */
const MAX_WAIT_MS = 10_000
const POLL_MS = 20

/**
 * The view of a detector: the size and format of the pictures that its model reads. If another model needs another view, its
 * pictures are requested in addition to the present ones, so that the model can be replaced between two frames.
 */
export class DetectorView {
  readonly #client: Pick<InferenceClient, 'requestView' | 'onViewChange'>
  readonly #closing = new AbortController()
  #current: ViewSpec
  #upcoming: { view: ViewSpec; request: ViewRequest } | undefined
  /** The frames that the detector processes. */
  readonly #frames = new Set<Promise<unknown>>()

  constructor(view: ViewSpec, client: Pick<InferenceClient, 'requestView' | 'onViewChange'>) {
    this.#current = view
    this.#client = client
  }

  /** The view that the element must request as its own. */
  get current(): ViewSpec {
    return this.#current
  }

  /** Notes that the detector processes a frame until the promise resolves or rejects. */
  async track<T>(frame: Promise<T>): Promise<T> {
    this.#frames.add(frame)
    try {
      return await frame
    } finally {
      this.#frames.delete(frame)
    }
  }

  /** Requests the pictures for another model. Returns whether the next frames have them. */
  async prepare(view: ViewSpec): Promise<boolean> {
    if (isDeepStrictEqual(view, this.#current)) return true
    const request = this.#client.requestView?.(view)
    if (!request) return false
    this.#upcoming = { view, request }

    const deadline = performance.now() + MAX_WAIT_MS
    const { signal } = this.#closing
    while (request.newest() === 0 && performance.now() < deadline && !signal.aborted)
      await sleep(POLL_MS, undefined, { signal }).catch(() => {})
    if (request.newest() === 0) {
      this.#endRequest()
      return false
    }
    // From here on, each frame has pictures in both views. Earlier frames have only the present one.
    request.awaitPictures()
    await this.#drain()
    return true
  }

  /** Must be called after the model was replaced. Ends the previous view when no frame needs it any more. */
  async adopt(): Promise<void> {
    if (!this.#upcoming) return
    await this.#drain()
    if (this.#closing.signal.aborted) return
    this.#current = this.#upcoming.view
    this.#client.onViewChange?.()
    this.#endRequest()
  }

  close(): void {
    this.#closing.abort()
    this.#endRequest()
  }

  /** Resolves when the frames that the detector processes now are finished. */
  async #drain(): Promise<void> {
    await Promise.allSettled(this.#frames)
  }

  #endRequest(): void {
    this.#upcoming?.request.end()
    this.#upcoming = undefined
  }
}
