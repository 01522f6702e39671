import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { type Backdrop, createBackdrop } from '../picture/backdrop.ts'
import type { SeenObject } from '../picture/painter.ts'
import type { SceneOptions } from '../scene.ts'

export interface FrameWorkerData {
  options: SceneOptions
  backdrop: Backdrop
  band: number
  bands: number
}

export interface FrameRequest {
  n: number
  rgb: Uint8ClampedArray<ArrayBuffer>
}

export interface FrameResult extends FrameRequest {
  objects: SeenObject[]
}

/** Frames that each thread may be ahead of the consumer. */
const AHEAD = 3

/**
 * Renders frames `from` up to `to` (exclusive) on `threads` threads and yields them in order. A
 * frame's pixels are only good until the next is asked for. Frames do not depend on the threads.
 */
export async function* renderFrames(
  options: SceneOptions,
  { from, to }: { from: number; to: number },
  threads = availableParallelism(),
): AsyncGenerator<FrameResult, void, void> {
  const backdrop = createBackdrop(options.width, options.height)
  const workers = Array.from({ length: threads }, (_, band) => {
    const workerData: FrameWorkerData = { options, backdrop, band, bands: threads }
    return new Worker(new URL('./frame-worker.ts', import.meta.url), { workerData })
  })
  try {
    await Promise.all(workers.map(worker => once(worker, 'message')))
    const queues = workers.map(worker => new FrameQueue(worker))
    const queueOf = (n: number): FrameQueue => queues[n % threads]!
    const request = (n: number, rgb: FrameRequest['rgb']): void => {
      if (n < to) queueOf(n).request({ n, rgb })
    }
    for (let n = from; n < from + AHEAD * threads; n++)
      request(n, new Uint8ClampedArray(options.width * options.height * 3))
    for (let n = from; n < to; n++) {
      const frame = await queueOf(n).next()
      yield frame
      request(n + AHEAD * threads, frame.rgb)
    }
  } finally {
    await Promise.all(workers.map(worker => worker.terminate()))
  }
}

/** The frames that one thread delivers, in the order of the requests. */
class FrameQueue {
  readonly #worker: Worker
  readonly #waiting: PromiseWithResolvers<FrameResult>[] = []
  #answered = 0

  constructor(worker: Worker) {
    this.#worker = worker
    worker.on('message', (result: FrameResult) => this.#waiting[this.#answered++]!.resolve(result))
    worker.on('error', error => {
      for (const frame of this.#waiting.slice(this.#answered)) frame.reject(error)
    })
  }

  request(request: FrameRequest): void {
    const frame = Promise.withResolvers<FrameResult>()
    frame.promise.catch(() => {}) // whoever takes it hears of it
    this.#waiting.push(frame)
    this.#worker.postMessage(request, [request.rgb.buffer])
  }

  async next(): Promise<FrameResult> {
    const result = await this.#waiting[0]!.promise
    this.#waiting.shift()
    this.#answered--
    return result
  }
}
