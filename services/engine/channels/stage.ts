import { parseAs } from '@eyrie/contract/parse'
import { viewSpec } from '@eyrie/contract/view'
import type { Frame, FrameResult } from '@eyrie/element'
import { FrameDroppedError } from '@eyrie/element/inference'
import { type Backoff, backoffDelayMs, withTimeout } from '@eyrie/kit'
import type { HostedElement } from '../plugin-host/models/hosted-element.ts'
import type { OpenContext } from '../plugin-host/open-element.ts'
import { MAX_INSPECTED_MS, MAX_OPEN_MS } from '../plugin-host/protocol/remote-element.ts'
import type { ElementShadow } from './element-shadow.ts'
import { parseFrameResult } from './frame-result.ts'
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
  #shadow: ElementShadow | undefined
  #openedAt = 0
  #attempts = 0
  /** The state with which the element has begun, if it has replaced other code. Encoded. */
  #initialState: string | undefined

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

  get shadow(): ElementShadow | undefined {
    return this.#shadow
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
      const maxMs = element.isInspected ? MAX_INSPECTED_MS : MAX_PROCESS_MS
      const result = parseFrameResult(await withTimeout(maxMs, element.process(frame)))
      if (element === this.#element) this.#recover()
      this.#shadow?.offer(frame, result)
      return result
    } catch (error) {
      if (error instanceof FrameDroppedError) return 'overwritten'
      if (element === this.#element) this.#fail(error)
      return 'failed'
    }
  }

  /** Compares another version of the element with this one, until `endShadow`. */
  startShadow(shadow: ElementShadow): void {
    this.endShadow()
    this.#shadow = shadow
    this.#plan.onCost = ms => shadow.tally.active.recordCost(ms)
  }

  endShadow(): void {
    this.#shadow?.close()
    this.#shadow = undefined
    this.#plan.onCost = undefined
  }

  /**
   * Continues with the state of the element of `previous`, if both are of the same development version, when that has processed
   * its frames. Frames wait until then. If the previous code fails, its state is lost, but not the one with which it began.
   */
  async takeOverState(previous: Stage | undefined): Promise<void> {
    const { development } = this.#plan
    if (!previous || !development || previous.#plan.development?.version !== development.version) return
    const turns = [previous, this].map(stage => stage.queue?.enqueue())
    try {
      await Promise.all(turns.map(turn => turn?.ready))
      const saved = await previous.#saveState()
      this.#initialState = saved.state
      if (saved.state === undefined && saved.problem === undefined) return
      const problem = saved.problem ?? (await this.#element?.remoteState?.restore(saved.state!))
      development.onStateReplaced({ problem, isOutdated: saved.isOutdated })
    } catch (error) {
      development.onStateReplaced({ problem: (error as Error).message, isOutdated: false })
    } finally {
      for (const turn of turns) turn?.finish()
    }
  }

  async #saveState(): Promise<{
    state?: string | undefined
    problem?: string | undefined
    isOutdated: boolean
  }> {
    const element = this.#failure === undefined ? this.#element : undefined
    if (element?.remoteState) return { ...(await element.remoteState.save()), isOutdated: false }
    const state = this.#initialState
    return {
      state,
      isOutdated: true,
      ...(state === undefined && { problem: 'the replaced code has failed' }),
    }
  }

  /** Closes the element, which is not opened again. */
  end(): void {
    this.endShadow()
    this.#recover()
    this.close()
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

  #recover(): void {
    if (this.#failure === undefined) return
    this.#failure = undefined
    this.#plan.onHealth?.(undefined)
  }

  #fail(error: unknown): void {
    const wasStable = this.#element !== undefined && performance.now() - this.#openedAt > STABLE_MS
    this.#attempts = wasStable ? 1 : this.#attempts + 1
    this.#failure = `${this.name}: ${error instanceof Error ? error.message : String(error)}`
    this.#plan.onHealth?.(this.#failure)
    this.#shadow?.tally.active.recordFailure(this.#failure)
    this.close()
  }
}
