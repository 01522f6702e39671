import { Worker } from 'node:worker_threads'
import { parseAs } from '@eyrie/contract/parse'
import { type ViewSpec, viewSpec } from '@eyrie/contract/view'
import type { Element, Log } from '@eyrie/element'
import { FrameDroppedError } from '@eyrie/element/inference'
import { withTimeout } from '@eyrie/kit'
import type { RingLocation } from '../frames/ring-reader.ts'
import { fromThread, type ThreadAnswer, type ThreadData, type ToThread } from './thread-messages.ts'

export interface ElementThreadOptions {
  data: ThreadData
  pixels: boolean
  findRing(view: ViewSpec): RingLocation | undefined
  /** Receives the CPU time of each frame, in ms. */
  onCost(ms: number): void
  log: Log
}

/** Timeouts for starting the thread and loading its code, for opening the element, and for one frame. */
export type ThreadTimeouts = Record<'loadMs' | 'openMs' | 'processMs', number>

/** Loading is slow on a busy machine. */
const TIMEOUTS: ThreadTimeouts = { loadMs: 60_000, openMs: 10_000, processMs: 1000 }
/** Maximum time until an element is open or has failed to open. */
export const MAX_OPEN_MS = TIMEOUTS.loadMs + TIMEOUTS.openMs

/**
 * Opens an element in a thread of its own, so that an element that hangs, crashes or leaks memory does not affect others.
 * It has no access to the engine's environment variables or standard output.
 */
export async function openElementThread(
  options: ElementThreadOptions,
  timeouts = TIMEOUTS,
): Promise<Element> {
  const { data, pixels, findRing, onCost, log } = options
  const thread = new ElementThread(data, timeouts, log)
  const { view, size, metadata } = await thread.open()
  return {
    view,
    size,
    metadata,
    async process(frame) {
      const ring = pixels && view ? findRing(view) : undefined
      if (pixels && !ring) throw new FrameDroppedError(frame.n)
      const answer = await thread.request(timeouts.processMs, { type: 'process', frame, ring })
      if (answer.type === 'overwritten') throw new FrameDroppedError(frame.n)
      if (answer.type !== 'processed') return {}
      onCost(answer.cpuMs)
      return answer.result
    },
    close: () => thread.close(),
  }
}

const FORGED_ANSWER = 'it answers in place of the engine'

/** A thread that answers one request at a time. After a timeout or failure it is terminated. */
class ElementThread {
  readonly #worker: Worker
  readonly #timeouts: ThreadTimeouts
  /** The answer to the current request; initially, to the start of the thread. */
  #answer = Promise.withResolvers<ThreadAnswer>()
  /** Why the thread has been terminated. */
  #failure: Error | undefined

  constructor(data: ThreadData, timeouts: ThreadTimeouts, log: Log) {
    this.#timeouts = timeouts
    this.#worker = new Worker(new URL('./element-thread.ts', import.meta.url), {
      workerData: data,
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    })
    for (const stream of [this.#worker.stdout, this.#worker.stderr]) {
      stream
        .setEncoding('utf8')
        .on('data', (text: string) => log.info({ element: data.name }, text.trimEnd()))
    }
    this.#worker.on('message', (value: unknown) => {
      const message = fromThread.safeParse(value).data
      if (!message) this.#answer.reject(new Error(FORGED_ANSWER))
      else if (message.type === 'log') log[message.level](message.fields, message.message)
      else if (message.type === 'failed') this.#answer.reject(new Error(message.message))
      else this.#answer.resolve(message)
    })
    this.#worker.on('error', error => this.#fail(error instanceof Error ? error : new Error(String(error))))
    this.#worker.on('exit', () => this.#fail(new Error('its thread has ended')))
  }

  /** Loads and opens the element. On failure the thread is terminated. */
  async open(): Promise<Pick<Element, 'view' | 'size' | 'metadata'>> {
    const { loadMs, openMs } = this.#timeouts
    const { type } = await this.request(loadMs, undefined, 'not loaded')
    const opened = type === 'loaded' ? await this.request(openMs, { type: 'open' }, 'not opened') : undefined
    try {
      if (opened?.type !== 'opened') throw new Error(FORGED_ANSWER)
      return { ...opened, view: opened.view && parseAs(viewSpec, opened.view, '/view') }
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Rejects with the element's error or a timeout, and terminates the thread. `timeoutMessage` describes a timeout. */
  async request(timeoutMs: number, message?: ToThread, timeoutMessage?: string): Promise<ThreadAnswer> {
    if (this.#failure) throw this.#failure
    if (message) {
      this.#worker.postMessage(message)
      this.#answer = Promise.withResolvers<ThreadAnswer>()
    }
    try {
      return await withTimeout(timeoutMs, this.#answer.promise, timeoutMessage)
    } catch (error) {
      // A late answer must not be mistaken for the answer to a later request.
      this.#failure ??= error as Error
      void this.#worker.terminate()
      throw error
    }
  }

  /** Closes the element, which has as much time for it as for a frame. */
  close(): void {
    this.#worker.postMessage({ type: 'close' } satisfies ToThread)
    const timer = setTimeout(() => this.#worker.terminate(), this.#timeouts.processMs)
    this.#worker.once('exit', () => clearTimeout(timer))
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#answer.reject(this.#failure)
  }
}
