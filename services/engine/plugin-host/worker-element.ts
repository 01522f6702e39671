import { Worker } from 'node:worker_threads'
import { parseAs } from '@eyrie/contract/parse'
import { type ViewSpec, viewSpec } from '@eyrie/contract/view'
import type { Element, Log } from '@eyrie/element'
import { FrameDroppedError } from '@eyrie/element/inference'
import { withTimeout } from '@eyrie/kit'
import type { RingPlace } from '../frames/ring-reader.ts'
import { type Answer, fromThread, type ThreadData, type ToThread } from './thread-messages.ts'

export interface WorkerElementOptions {
  data: ThreadData
  pixels: boolean
  ringOf(view: ViewSpec): RingPlace | undefined
  /** Told how much CPU time each frame has taken, in ms. */
  onCost(ms: number): void
  log: Log
}

/** How long an element's thread may take to start and load its code, to open the element, and for a frame. */
export type Limits = Record<'loadMs' | 'openMs' | 'processMs', number>

/** How long loading takes is up to the machine and what else it does. */
const LIMITS: Limits = { loadMs: 60_000, openMs: 10_000, processMs: 1000 }
/** When an element has been opened, or has failed to, at the latest. */
export const OPENED_MS = LIMITS.loadMs + LIMITS.openMs

/**
 * Opens an element in a thread of its own, so that one that hangs, crashes or eats memory takes no other with it. It
 * sees neither the environment nor the engine's standard output.
 */
export async function openInWorker(options: WorkerElementOptions, limits = LIMITS): Promise<Element> {
  const { data, pixels, ringOf, onCost, log } = options
  const thread = new PluginThread(data, limits, log)
  const { view, size, metadata } = await thread.open()
  return {
    view,
    size,
    metadata,
    async process(frame) {
      const ring = pixels && view ? ringOf(view) : undefined
      if (pixels && !ring) throw new FrameDroppedError(frame.n)
      const answer = await thread.ask(limits.processMs, { type: 'process', frame, ring })
      if (answer.type === 'gone') throw new FrameDroppedError(frame.n)
      if (answer.type !== 'processed') return {}
      onCost(answer.cpuMs)
      return answer.result
    },
    close: () => thread.close(),
  }
}

/** Speaks with one thread: one question, one answer, in time or never again. */
class PluginThread {
  readonly #worker: Worker
  readonly #limits: Limits
  #answer = Promise.withResolvers<Answer>()
  #death: Error | undefined

  constructor(data: ThreadData, limits: Limits, log: Log) {
    this.#limits = limits
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
    this.#worker.on('message', (said: unknown) => {
      const message = fromThread.safeParse(said).data
      if (!message) this.#answer.reject(new Error('it answers in place of the engine'))
      else if (message.type === 'log') log[message.level](message.fields, message.message)
      else if (message.type === 'failed') this.#answer.reject(new Error(message.message))
      else this.#answer.resolve(message)
    })
    this.#worker.on('error', error => this.#die(error instanceof Error ? error : new Error(String(error))))
    this.#worker.on('exit', () => this.#die(new Error('its thread has ended')))
  }

  /** What the element asks for and shows. Throws why it cannot be used; the thread is ended then. */
  async open(): Promise<Pick<Element, 'view' | 'size' | 'metadata'>> {
    const { loadMs, openMs } = this.#limits
    const { type } = await this.ask(loadMs, undefined, 'not loaded')
    const opened = type === 'loaded' ? await this.ask(openMs, { type: 'open' }, 'not opened') : undefined
    try {
      if (opened?.type !== 'opened') throw new Error('it answers in place of the engine')
      return { ...opened, view: opened.view && parseAs(viewSpec, opened.view, '/view') }
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Throws what the element threw, or why there was no answer; the thread is ended then. */
  async ask(ms: number, question?: ToThread, lacking?: string): Promise<Answer> {
    if (this.#death) throw this.#death
    if (question) {
      this.#worker.postMessage(question)
      this.#answer = Promise.withResolvers<Answer>()
    }
    try {
      return await withTimeout(ms, this.#answer.promise, lacking)
    } catch (error) {
      // What it still says is no answer to anything.
      this.#death ??= error as Error
      void this.#worker.terminate()
      throw error
    }
  }

  /** Lets the element close itself, for as long as a frame may take. */
  close(): void {
    this.#worker.postMessage({ type: 'close' } satisfies ToThread)
    const end = setTimeout(() => this.#worker.terminate(), this.#limits.processMs)
    this.#worker.once('exit', () => clearTimeout(end))
  }

  #die(error: Error): void {
    this.#death ??= error
    this.#answer.reject(this.#death)
  }
}
