import { isDeepStrictEqual } from 'node:util'
import type { ViewSpec } from '@eyrie/contract/view'
import { sleep } from '@eyrie/kit'
import type { InferenceClient, ViewRequest } from './inference-client.ts'

/**
 * Maximum time to wait for the first picture of another view. If the source delivers no frames for
 * so long, none are lost when the detector is opened again instead.
 */
const MAX_WAIT_MS = 10_000
const POLL_MS = 20

/**
 * The view of a detector: the size and format of the pictures that its model reads. Before the
 * model is replaced by one with another view, the pictures of that view are requested in addition,
 * so that the model can be replaced between two frames.
 */
export class DetectorView {
  readonly #client: Pick<InferenceClient, 'requestView' | 'onViewChange'>
  readonly #closing = new AbortController()
  #current: ViewSpec
  /** The view of the next model, whose pictures are requested. */
  #upcoming: { view: ViewSpec; request: ViewRequest } | undefined
  /** The frames that the detector is processing. */
  readonly #frames = new Set<Promise<unknown>>()

  constructor(view: ViewSpec, client: Pick<InferenceClient, 'requestView' | 'onViewChange'>) {
    this.#current = view
    this.#client = client
  }

  /** The view that the element must request as its own. */
  get current(): ViewSpec {
    return this.#current
  }

  /**
   * Counts a frame as being processed until its promise resolves or rejects. Returns the promise.
   */
  async track<T>(frame: Promise<T>): Promise<T> {
    this.#frames.add(frame)
    try {
      return await frame
    } finally {
      this.#frames.delete(frame)
    }
  }

  /**
   * Requests the pictures that another model reads, and waits for the first one. Returns true when
   * all further frames have such pictures, and false if they cannot be provided. If it returns
   * true, and the model is replaced, call `adopt` next.
   */
  async prepare(view: ViewSpec): Promise<boolean> {
    if (isDeepStrictEqual(view, this.#current)) return true
    const request = this.#client.requestView?.(view)
    if (!request) return false
    this.#upcoming = { view, request }
    if (!(await this.#awaitFirstPicture(request))) {
      this.#endRequest()
      return false
    }

    request.awaitPictures()
    // Frames that arrived before may have only pictures of the current view.
    await this.#drain()
    return true
  }

  async #awaitFirstPicture(request: ViewRequest): Promise<boolean> {
    const { signal } = this.#closing
    const deadline = performance.now() + MAX_WAIT_MS
    while (request.newest() === 0) {
      if (signal.aborted || performance.now() >= deadline) return false
      await sleep(POLL_MS, signal)
    }
    return true
  }

  /**
   * Called after the model was replaced. Switches to the view of the new model when no frame
   * needs the previous view.
   */
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
