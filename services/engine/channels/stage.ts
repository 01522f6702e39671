import { counters, detectedObject, eventData } from '@eyrie/contract/object'
import { parseAs } from '@eyrie/contract/parse'
import { viewSpec } from '@eyrie/contract/view'
import type { Frame, FrameResult } from '@eyrie/element'
import { FrameDroppedError } from '@eyrie/element/inference'
import { type Backoff, backoffDelayMs, withTimeout } from '@eyrie/kit'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { z } from 'zod'
import type { HostedElement } from '../plugin-host/models/hosted-element.ts'
import type { OpenContext } from '../plugin-host/open-element.ts'
import { MAX_OPEN_MS } from '../plugin-host/protocol/remote-element.ts'
import type { StagePlan } from './stage-plan.ts'
import { TurnQueue } from './turn-queue.ts'

/** An element that takes longer for a frame has failed. */
const MAX_PROCESS_MS = 10_000
/** After running for this long without a failure, an element is reopened with the shortest delay again. */
const STABLE_MS = 10_000

/** One element in the chain of a channel. A failure closes the element, and `ElementChain` reopens it. */
export class Stage {
  readonly name: string
  /** Admits frames one at a time; undefined for a stateless element, which processes any number of frames at once. */
  readonly queue: TurnQueue | undefined
  readonly #plan: StagePlan
  #element: HostedElement | undefined
  #failure: string | undefined
  #openedAt = 0
  #attempts = 0

  constructor(plan: StagePlan) {
    this.name = plan.name
    this.queue = plan.isStateless ? undefined : new TurnQueue()
    this.#plan = plan
  }

  get element(): HostedElement | undefined {
    return this.#element
  }

  /** Reason of the last failure; cleared when the element processes a frame again. */
  get failure(): string | undefined {
    return this.#failure
  }

  async open(context: OpenContext): Promise<void> {
    const opened = this.#plan.open(context)
    try {
      const element = await withTimeout(MAX_OPEN_MS, opened, 'not opened')
      // The media service rejects a request for several views if one of them is invalid.
      if (element.view) parseAs(viewSpec, element.view, '/view')
      this.#element = element
      this.#openedAt = performance.now()
    } catch (error) {
      // Closes the element if it opens after the timeout.
      opened.then(element => element.close?.()).catch(() => {})
      this.#fail(error)
    }
  }

  /** Returns `overwritten` if the picture was no longer available, `failed` if the element failed or is closed. */
  async process(frame: Frame): Promise<FrameResult | 'overwritten' | 'failed'> {
    const element = this.#element
    if (!element) return 'failed'
    try {
      const result = parseFrameResult(await withTimeout(MAX_PROCESS_MS, element.process(frame)))
      if (element === this.#element) this.#failure = undefined
      return result
    } catch (error) {
      if (error instanceof FrameDroppedError) return 'overwritten'
      if (element === this.#element) this.#fail(error)
      return 'failed'
    }
  }

  /** Delay before the element is reopened, in ms. */
  retryDelayMs(backoff: Backoff, random: () => number): number {
    return backoffDelayMs(this.#attempts - 1, backoff, random)
  }

  close(): void {
    const element = this.#element
    this.#element = undefined
    try {
      element?.close?.()
    } catch {
      // The element is discarded in any case.
    }
  }

  #fail(error: unknown): void {
    const wasStable = this.#element !== undefined && performance.now() - this.#openedAt > STABLE_MS
    this.#attempts = wasStable ? 1 : this.#attempts + 1
    this.#failure = `${this.name}: ${error instanceof Error ? error.message : String(error)}`
    this.close()
  }
}

const frameResult = z.strictObject({
  objects: z.array(detectedObject).optional(),
  lowScoreObjects: z.array(detectedObject).optional(),
  counters: counters.optional(),
  events: z.array(eventData).optional(),
}) satisfies z.ZodType<FrameResult>

/** Validates without copying, unlike zod: a channel produces hundreds of objects per second. */
const isValidFrameResult = new Ajv2020().compile<FrameResult>(z.toJSONSchema(frameResult))

/** Throws if a plugin, which is third-party code, returned an invalid result. zod describes the first problem. */
function parseFrameResult(result: unknown): FrameResult {
  return isValidFrameResult(result) ? result : parseAs(frameResult, result, '/result')
}
