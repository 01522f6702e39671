import { Worker } from 'node:worker_threads'
import { parseAs } from '@eyrie/contract/parse'
import { type ViewSpec, viewSpec } from '@eyrie/contract/view'
import type { Element, Log } from '@eyrie/element'
import { FrameDroppedError } from '@eyrie/element/inference'
import { withTimeout } from '@eyrie/kit'
import type { RingLocation } from '../frames/ring-reader.ts'
import { fromThread, type ThreadAnswer, type ThreadData, type ToThread } from './thread-messages.ts'

/** An element (a step of a pipeline) that is to run in a separate thread. */
export interface ElementThreadOptions {
  data: ThreadData
  /** Whether the element reads the pictures of frames. */
  needsPixels: boolean
  /** Returns the frame ring (pictures in shared memory) of a view; undefined until the media service has created it. */
  findRing(view: ViewSpec): RingLocation | undefined
  /** Receives the CPU time of each frame, in ms. */
  onCost(ms: number): void
  log: Log
}

export interface ThreadTimeouts {
  /** For starting the thread and loading the code of the element. */
  loadMs: number
  /** For opening the element. */
  openMs: number
  /** For one frame, and for closing the element. */
  processMs: number
}

/** Loading may take long on a busy machine. */
const DEFAULT_TIMEOUTS: ThreadTimeouts = { loadMs: 60_000, openMs: 10_000, processMs: 1000 }
/** Maximum time until an element is open or has failed to open. */
export const MAX_OPEN_MS = DEFAULT_TIMEOUTS.loadMs + DEFAULT_TIMEOUTS.openMs

/**
 * Opens an element in a separate thread, so that an element that hangs, crashes or leaks memory does not affect other
 * elements. The thread has no access to the environment variables or the standard output of the engine.
 */
export async function openElementThread(
  options: ElementThreadOptions,
  timeouts = DEFAULT_TIMEOUTS,
): Promise<Element> {
  const { data, needsPixels, findRing, onCost, log } = options
  const thread = new ElementThread(data, timeouts, log)
  const { view, size, metadata } = await thread.open()
  return {
    view,
    size,
    metadata,
    async process(frame) {
      const ring = needsPixels && view ? findRing(view) : undefined
      if (needsPixels && !ring) throw new FrameDroppedError(frame.n)

      const answer = await thread.request(timeouts.processMs, { type: 'process', frame, ring })
      if (answer.type === 'overwritten') throw new FrameDroppedError(frame.n)
      if (answer.type !== 'processed') return {}
      onCost(answer.cpuMs)
      return answer.result
    },
    close: () => thread.close(),
  }
}

/** The reason when the code of an element sends messages to the engine, bypassing `element-thread.ts`. */
const FORGED_ANSWER = 'it answers in place of the engine'

const MAX_HEAP_MB = 512

/** A thread that handles one request at a time. After a timeout or failure, it is terminated. */
class ElementThread {
  readonly #worker: Worker
  readonly #timeouts: ThreadTimeouts
  /** The answer to the current request. The first request is the start of the thread. */
  #answer = Promise.withResolvers<ThreadAnswer>()
  /** Why the thread has been terminated; undefined while it works. */
  #failure: Error | undefined

  constructor(data: ThreadData, timeouts: ThreadTimeouts, log: Log) {
    this.#timeouts = timeouts
    this.#worker = new Worker(new URL('./element-thread.ts', import.meta.url), {
      workerData: data,
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    })

    const logOutput = (text: string) => log.info({ element: data.name }, text.trimEnd())
    this.#worker.stdout.setEncoding('utf8').on('data', logOutput)
    this.#worker.stderr.setEncoding('utf8').on('data', logOutput)
    this.#worker.on('message', message => this.#handleMessage(message, log))
    this.#worker.on('error', error => this.#fail(error instanceof Error ? error : new Error(String(error))))
    this.#worker.on('exit', () => this.#fail(new Error('its thread has ended')))
  }

  /** Loads and opens the element. On failure the thread is terminated. */
  async open(): Promise<Pick<Element, 'view' | 'size' | 'metadata'>> {
    const { loadMs, openMs } = this.#timeouts
    const loaded = await this.request(loadMs, undefined, 'not loaded')
    try {
      if (loaded.type !== 'loaded') throw new Error(FORGED_ANSWER)
      const opened = await this.request(openMs, { type: 'open' }, 'not opened')
      if (opened.type !== 'opened') throw new Error(FORGED_ANSWER)
      return { ...opened, view: opened.view && parseAs(viewSpec, opened.view, '/view') }
    } catch (error) {
      this.close()
      throw error
    }
  }

  /**
   * Sends a request, if any, and returns the answer. If the element fails or does not answer in time, terminates the
   * thread and rejects.
   */
  async request(timeoutMs: number, message?: ToThread, timeoutMessage?: string): Promise<ThreadAnswer> {
    if (this.#failure) throw this.#failure

    if (message) {
      this.#worker.postMessage(message)
      this.#answer = Promise.withResolvers<ThreadAnswer>()
    }

    try {
      return await withTimeout(timeoutMs, this.#answer.promise, timeoutMessage)
    } catch (error) {
      // The thread is terminated so that a late answer cannot be mistaken for the answer to the next request.
      this.#failure ??= error as Error
      void this.#worker.terminate()
      throw error
    }
  }

  /** Closes the element and ends the thread. If this takes longer than a frame may take, the thread is terminated. */
  close(): void {
    this.#worker.postMessage({ type: 'close' } satisfies ToThread)
    const timer = setTimeout(() => this.#worker.terminate(), this.#timeouts.processMs)
    this.#worker.once('exit', () => clearTimeout(timer))
  }

  #handleMessage(received: unknown, log: Log): void {
    const message = fromThread.safeParse(received).data
    if (!message) this.#answer.reject(new Error(FORGED_ANSWER))
    else if (message.type === 'log') log[message.level](message.fields, message.message)
    else if (message.type === 'failed') this.#answer.reject(new Error(message.message))
    else this.#answer.resolve(message)
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#answer.reject(this.#failure)
  }
}
