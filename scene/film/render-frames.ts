import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { type Backdrop, createBackdrop } from '../picture/backdrop.ts'
import type { RenderedObject } from '../picture/painter.ts'
import type { SceneOptions } from '../picture/scene.ts'

/** Input of a worker thread. It renders one of `bands` horizontal bands of the backdrop. */
export interface FrameWorkerData {
  options: SceneOptions
  backdrop: Backdrop
  band: number
  bands: number
}

/** A request for frame `n`, with the buffer to render into. */
export interface FrameRequest {
  n: number
  rgb: Uint8ClampedArray<ArrayBuffer>
}

export interface RenderedFrame extends FrameRequest {
  objects: RenderedObject[]
}

/** Number of frames that are requested from each thread in advance. */
const MAX_QUEUED_FRAMES = 3

/**
 * Renders the frames from `from` to `to` (exclusive) on worker threads, and yields them in order.
 * The pixels of a frame are valid until the next frame is requested. The result does not depend on
 * the number of threads.
 */
export async function* renderFrames(
  options: SceneOptions,
  { from, to }: { from: number; to: number },
  threads = availableParallelism(),
): AsyncGenerator<RenderedFrame, void, void> {
  const backdrop = createBackdrop(options.width, options.height)
  const workers = Array.from({ length: threads }, (_, band) => {
    const workerData: FrameWorkerData = { options, backdrop, band, bands: threads }
    return new Worker(new URL('./frame-worker.ts', import.meta.url), { workerData })
  })
  try {
    // The first message of a worker reports that its band of the backdrop is complete.
    await Promise.all(workers.map(worker => once(worker, 'message')))
    const queues = workers.map(worker => new FrameQueue(worker))
    const getQueue = (n: number): FrameQueue => queues[n % threads]!
    const request = (n: number, rgb: FrameRequest['rgb']): void => {
      if (n < to) getQueue(n).request({ n, rgb })
    }

    const queuedFrames = MAX_QUEUED_FRAMES * threads
    for (let n = from; n < from + queuedFrames; n++) {
      request(n, new Uint8ClampedArray(options.width * options.height * 3))
    }
    for (let n = from; n < to; n++) {
      const frame = await getQueue(n).next()
      yield frame
      // The buffer of this frame is reused for a later one.
      request(n + queuedFrames, frame.rgb)
    }
  } finally {
    await Promise.all(workers.map(worker => worker.terminate()))
  }
}

/** The frames that are requested from one thread, in order. */
class FrameQueue {
  readonly #worker: Worker
  /**
   * The requested frames that `next` has not returned yet. The thread has rendered the first
   * `#renderedCount` of them.
   */
  readonly #pending: PromiseWithResolvers<RenderedFrame>[] = []
  #renderedCount = 0

  constructor(worker: Worker) {
    this.#worker = worker
    worker.on('message', (result: RenderedFrame) => {
      this.#pending[this.#renderedCount]!.resolve(result)
      this.#renderedCount++
    })
    worker.on('error', error => {
      for (const frame of this.#pending.slice(this.#renderedCount)) frame.reject(error)
    })
  }

  request(request: FrameRequest): void {
    const frame = Promise.withResolvers<RenderedFrame>()
    // next() handles the rejection. Before that, Node.js must not report it as unhandled.
    frame.promise.catch(() => {})
    this.#pending.push(frame)
    this.#worker.postMessage(request, [request.rgb.buffer])
  }

  /** Waits for the next frame, and removes it from the queue. */
  async next(): Promise<RenderedFrame> {
    const result = await this.#pending[0]!.promise
    this.#pending.shift()
    this.#renderedCount--
    return result
  }
}
