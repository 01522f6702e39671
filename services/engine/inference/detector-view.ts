import { isDeepStrictEqual } from 'node:util'
import type { ViewSpec } from '@eyrie/contract/view'
import { sleep } from '@eyrie/kit'
import type { InferenceClient, ViewRequest } from './inference-client.ts'

/**
 * Maximum time to wait for the first picture of another view. After this time, the detector is
 * opened again instead. That loses no frames, because the source delivers none.
 */
const MAX_WAIT_MS = 10_000
const POLL_MS = 20

/** The part of a channel that the view uses. */
type ViewClient = Pick<InferenceClient, 'requestView' | 'onViewChange'>

/**
 * The view of a detector: the size and format of the pictures that its model reads. Before the
 * model is replaced by one with another view, the pictures of that view are requested in addition,
 * so that the model can be replaced between two frames.
 */
export class DetectorView {
  readonly #client: ViewClient
  readonly #closing = new AbortController()
  #current: ViewSpec
  /** The view of the next model, whose pictures are requested. */
  #upcoming: { view: ViewSpec; request: ViewRequest } | undefined
  /** The frames that the detector is processing. */
  readonly #framesInProgress = new Set<Promise<unknown>>()

  constructor(view: ViewSpec, client: ViewClient) {
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
    this.#framesInProgress.add(frame)
    try {
      return await frame
    } finally {
      this.#framesInProgress.delete(frame)
    }
  }

  /**
   * Requests the pictures that the next model reads, and waits for the first one. Returns true when
   * all further frames have such pictures, and false if they cannot be provided. After true, the
   * caller replaces the model and calls `adopt`.
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
    await this.#finishFrames()
    return true
  }

  /**
   * Called after the next model has replaced the current one. Switches to its view when no frame
   * needs the previous view.
   */
  async adopt(): Promise<void> {
    if (!this.#upcoming) return
    await this.#finishFrames()
    if (this.#closing.signal.aborted) return
    this.#current = this.#upcoming.view
    this.#client.onViewChange?.()
    this.#endRequest()
  }

  close(): void {
    this.#closing.abort()
    this.#endRequest()
  }

  /** Returns false if no picture arrives in time, or the detector is closed. */
  async #awaitFirstPicture(request: ViewRequest): Promise<boolean> {
    const { signal } = this.#closing
    const deadline = performance.now() + MAX_WAIT_MS
    while (request.newest() === 0) {
      if (signal.aborted || performance.now() >= deadline) return false
      await sleep(POLL_MS, signal)
    }
    return true
  }

  /** Resolves when the frames that the detector processes now are finished. */
  async #finishFrames(): Promise<void> {
    await Promise.allSettled(this.#framesInProgress)
  }

  #endRequest(): void {
    this.#upcoming?.request.end()
    this.#upcoming = undefined
  }
}
