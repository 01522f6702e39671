import { parseAs } from '@eyrie/contract/parse'
import { type ViewSpec, viewSpec } from '@eyrie/contract/view'
import type { Element } from '@eyrie/element'
import { FrameDroppedError } from '@eyrie/element/inference'
import type { MetricValues } from '@eyrie/element/metrics'
import { withTimeout } from '@eyrie/kit'
import type { RingLocation } from '../../frames/ring-reader.ts'
import type { CallMessage, ElementCall, ReplyMessage } from './element-calls.ts'
import {
  type ElementAnswer,
  type ElementSource,
  fromElement,
  type LogEntry,
  type ToElement,
} from './element-messages.ts'

/** The connection to the thread or process of an element (a step of a pipeline). */
export interface ElementConnection {
  send(message: ToElement): void
  /** Ends the thread or process at once. */
  terminate(): void
}

export interface RemoteElementOptions {
  connection: ElementConnection
  timeouts: ElementTimeouts
  onLog(entry: LogEntry): void
  /**
   * Does what the element calls for. Rejects with the reason. Without it, all calls are rejected.
   */
  onCall?(call: ElementCall): Promise<unknown>
  /** Adds to the reason why the element broke what is known about its thread or process. */
  explain?(reason: string): string
  /**
   * Returns the time in ms in which the thread or process has waited for a processor since its
   * start. It does not count as time of the element. Without it, that time counts.
   */
  waitedMs?(): number
  /**
   * Called once if the element breaks: it ends, does not answer in time, or sends what it must not.
   */
  onCrash?(reason: string): void
}

export interface ElementTimeouts {
  /** For starting the thread or process and loading the code of the element. */
  loadMs: number
  /** For opening the element. */
  openMs: number
  /** For one frame, and for closing the element. */
  processMs: number
}

/** Loading may take long on a busy machine. */
export const DEFAULT_TIMEOUTS: ElementTimeouts = { loadMs: 60_000, openMs: 10_000, processMs: 1000 }
/** For a frame at which a debugger pauses. */
export const MAX_INSPECTED_MS = 24 * 3600 * 1000
/** A timer that is later than this shows that this thread or the machine was blocked. */
const MAX_TIMER_DELAY_MS = 100
/** Limits the time for closing an element that has more time for a frame. */
const MAX_CLOSE_MS = 10_000
/** Maximum time until an element is open or has failed to open. */
export const MAX_OPEN_MS = DEFAULT_TIMEOUTS.loadMs + DEFAULT_TIMEOUTS.openMs

/**
 * The reason when the code of an element sends messages to the engine, bypassing `serveElement`.
 */
export const FORGED_ANSWER = 'it answers in place of the engine'

const MAX_REASON_LENGTH = 500

/** What an element remembers, as long as its code is replaced. */
export interface RemoteState {
  /** Returns the encoded state, if the element has one, or why it cannot be kept. */
  save(): Promise<{ state?: string | undefined; problem?: string | undefined }>
  /** Continues with a state. Returns why not, in which case the element has its initial state. */
  restore(state: string): Promise<string | undefined>
}

/** An element that is open in its thread or process. */
export interface OpenedElement extends Element {
  readonly remoteState: RemoteState
  /** Whether a debugger may pause it, so that frames have no time limit. */
  readonly isInspected?: boolean
}

/** How the opened element is used. */
export interface ElementUse {
  /** Whether the element reads the pictures of frames. */
  needsPixels: boolean
  /**
   * Returns the frame ring (pictures in shared memory) of a view; undefined until the media
   * service has created it.
   */
  findRing(view: ViewSpec): RingLocation | undefined
  /** Returns why a view is not provided; undefined if it is. */
  checkView?(view: ViewSpec): string | undefined
  /** Returns why a result is not accepted; undefined if it is. */
  checkResult?(result: unknown): string | undefined
  /** Receives the CPU time of each frame, in ms, as the element has measured it. */
  onCost?(ms: number): void
  /** Receives all metrics of the element after some have changed. */
  onMetrics?(metrics: MetricValues): void
}

/**
 * An element in a thread or process of its own, which handles one request at a time. After a
 * timeout or failure, the thread or process is terminated.
 */
export class RemoteElement {
  readonly #options: RemoteElementOptions
  /** The answer to the current request; undefined while there is none. */
  #answer: PromiseWithResolvers<ElementAnswer> | undefined
  /** Inferences that the element waits for. They take no time of its own. */
  readonly #inferences = new Set<Promise<void>>()
  /**
   * Time in which the element has waited for inferences, until the last time that it
   * waited for none, in ms.
   */
  #inferringMs = 0
  #inferringSince = 0
  /** Whether the picture of the current frame was no longer available for an inference. */
  #isFrameDropped = false
  /** Why the thread or process has ended; undefined while it works. */
  #failure: Error | undefined
  #isClosed = false

  constructor(options: RemoteElementOptions) {
    this.#options = options
  }

  /**
   * Loads and opens the element. Rejects with the reason if it fails; the thread or
   * process is terminated then.
   */
  async open(source: ElementSource, use: ElementUse): Promise<OpenedElement> {
    const { loadMs, openMs, processMs } = this.#options.timeouts
    const loaded = await this.#request(loadMs, { type: 'load', ...source }, 'not loaded')
    try {
      if (loaded.type !== 'loaded') throw this.#crash(FORGED_ANSWER)
      const opened = await this.#request(openMs, { type: 'open' }, 'not opened')
      if (opened.type !== 'opened') throw this.#crash(FORGED_ANSWER)
      const { size, metadata } = opened
      const view = opened.view && parseAs(viewSpec, opened.view, '/view')
      const refusal = view && use.checkView?.(view)
      if (refusal) throw new Error(refusal)
      return {
        view,
        size,
        metadata,
        process: async frame => {
          const ring = use.needsPixels && view ? use.findRing(view) : undefined
          if (use.needsPixels && !ring) throw new FrameDroppedError(frame.n)

          this.#isFrameDropped = false
          const answer = await this.#request(processMs, { type: 'process', frame, ring })
          if (answer.type === 'overwritten') throw new FrameDroppedError(frame.n)
          if (answer.type !== 'processed') throw this.#crash(FORGED_ANSWER)
          const problem = use.checkResult?.(answer.result)
          if (problem !== undefined) throw this.#crash(problem)
          use.onCost?.(answer.cpuMs)
          if (answer.metrics) use.onMetrics?.(answer.metrics)
          return answer.result
        },
        remoteState: {
          save: async () => {
            const saved = await this.#request(processMs, { type: 'save' })
            if (saved.type !== 'saved') throw this.#crash(FORGED_ANSWER)
            return saved.problem === undefined ? saved : { problem: toReason(saved.problem) }
          },
          restore: async state => {
            const restored = await this.#request(processMs, { type: 'restore', state })
            if (restored.type !== 'restored') throw this.#crash(FORGED_ANSWER)
            return restored.problem && toReason(restored.problem)
          },
        },
        close: () => this.close(),
      }
    } catch (error) {
      this.close()
      throw error
    }
  }

  /**
   * Closes the element and ends its thread or process. If this takes longer than a frame may
   * take, it is terminated.
   */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const { connection, timeouts } = this.#options
    connection.send({ type: 'close' })
    setTimeout(connection.terminate, Math.min(timeouts.processMs, MAX_CLOSE_MS)).unref()
  }

  /** Handles a message of the element. */
  receive(received: unknown): void {
    const message = fromElement.safeParse(received).data
    switch (message?.type) {
      case 'log':
        this.#options.onLog(message)
        break
      case 'call':
        this.#handleCall(message)
        break
      case 'crashed':
        this.fail(message.message)
        break
      default:
        this.#handleAnswer(message)
    }
  }

  #handleAnswer(message: ElementAnswer | undefined): void {
    const answer = this.#answer
    this.#answer = undefined
    if (!message || !answer) {
      this.fail(FORGED_ANSWER, answer)
    }
    // An element that does not catch the error of its inference has not failed.
    else if (message.type === 'failed' && this.#isFrameDropped) {
      answer.resolve({ type: 'overwritten' })
    } else if (message.type === 'failed') {
      answer.reject(new Error(this.#toReason(message.message)))
    } else {
      answer.resolve(message)
    }
  }

  /**
   * Terminates the thread or process, which has ended or must end. The current request
   * and later ones reject.
   */
  fail(reason: string, answer = this.#answer): void {
    this.#answer = undefined
    const error = this.#crash(reason)
    answer?.reject(error)
  }

  #handleCall(message: CallMessage): void {
    const reply = this.#reply(message)
    if (message.call.method !== 'infer') return
    if (this.#inferences.size === 0) this.#inferringSince = performance.now()
    this.#inferences.add(reply)
    void reply.then(() => {
      this.#inferences.delete(reply)
      if (this.#inferences.size === 0) this.#inferringMs += performance.now() - this.#inferringSince
    })
  }

  async #reply({ id, call }: CallMessage): Promise<void> {
    const { connection, onCall = rejectCall } = this.#options
    let reply: ReplyMessage
    try {
      reply = { type: 'reply', id, value: await onCall(call) }
    } catch (error) {
      if (error instanceof FrameDroppedError) this.#isFrameDropped = true
      reply = { type: 'reply', id, error: (error as Error).message }
    }
    // The element that has made the call may have ended in the meantime.
    if (!this.#isClosed && !this.#failure) connection.send(reply)
  }

  async #request(
    timeoutMs: number,
    message: ToElement,
    timeoutMessage?: string,
  ): Promise<ElementAnswer> {
    if (this.#failure) throw this.#failure

    const answer = Promise.withResolvers<ElementAnswer>()
    this.#answer = answer
    this.#options.connection.send(message)
    try {
      return await this.#awaitAnswer(timeoutMs, answer, timeoutMessage)
    } catch (error) {
      const isTimeout = this.#answer === answer
      // Terminated so that a late answer cannot be mistaken for the answer to the next request.
      if (isTimeout) throw this.#crash((error as Error).message)
      this.#failure ??= error as Error
      this.#options.connection.terminate()
      throw error
    }
  }

  /**
   * Waits for an answer. The time in which the element waits for others does not count. After this
   * thread or the machine was blocked, the element has the whole time again, once.
   */
  async #awaitAnswer(
    timeoutMs: number,
    answer: PromiseWithResolvers<ElementAnswer>,
    timeoutMessage: string | undefined,
  ): Promise<ElementAnswer> {
    let startedAt = performance.now() - this.#readWaitedMs()
    let timeout: unknown
    let wasBlocked = false
    for (let remainingMs = timeoutMs; ; ) {
      const dueAt = performance.now() + remainingMs
      try {
        return await withTimeout(remainingMs, answer.promise, timeoutMessage)
      } catch (error) {
        const isTimeout = this.#answer === answer
        if (!isTimeout) throw error
        // The first error names the whole time.
        timeout ??= error
      }
      if (!wasBlocked && performance.now() - dueAt > MAX_TIMER_DELAY_MS) {
        wasBlocked = true
        startedAt = performance.now() - this.#readWaitedMs()
      }
      await Promise.race([answer.promise, Promise.all(this.#inferences)])
      remainingMs = timeoutMs - (performance.now() - startedAt - this.#readWaitedMs())
      // Timers may end a little early.
      if (remainingMs < 1) throw timeout
    }
  }

  /**
   * Time in which the element has waited for inferences, which is limited elsewhere,
   * and for a processor.
   */
  #readWaitedMs(): number {
    return this.#inferringMs + (this.#options.waitedMs?.() ?? 0)
  }

  #toReason(text: string): string {
    const reason = toReason(text)
    return this.#options.explain?.(reason) ?? reason
  }

  /**
   * Terminates the thread or process and returns the error of its requests: the first
   * reason why it broke.
   */
  #crash(reason: string): Error {
    if (this.#failure) return this.#failure
    this.#failure = new Error(this.#toReason(reason))
    if (!this.#isClosed) this.#options.onCrash?.(this.#failure.message)
    this.#options.connection.terminate()
    return this.#failure
  }
}

/** Reasons contain text of the element, and are stored, published and printed on terminals. */
const toReason = (text: string) => text.slice(0, MAX_REASON_LENGTH).replace(/\p{Cc}+/gu, ' ')

/** Rejects a call of an element that is in a thread of the engine, which need not call it. */
export async function rejectCall(): Promise<never> {
  throw new Error('only elements of uploaded plugins have fetch and storage: use those of Node')
}
