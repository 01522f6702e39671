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
import type { StagePlan, StateReplacement } from './stage-plan.ts'
import { TurnQueue } from './turn-queue.ts'

/** An element that takes longer for a frame has failed. */
const MAX_PROCESS_MS = 10_000
/**
 * The delay before an element is reopened grows with each failure. It starts anew if the
 * element has run this long.
 */
const STABLE_MS = 10_000

/**
 * The state of an element whose code is replaced. It has neither `state` nor `problem` if the
 * element has no state.
 */
interface SavedState {
  /** The encoded state. */
  state?: string | undefined
  /** Why the state could not be saved. */
  problem?: string | undefined
  /**
   * Whether this is the state with which the element had begun, because its code has failed since.
   */
  isOutdated: boolean
}

/**
 * A stage in the chain of a channel, which runs one element on the frames. A failure closes the
 * element, and `ElementChain` opens it again after a delay.
 */
export class Stage {
  readonly name: string
  /**
   * Admits frames one at a time; undefined for a stateless element, which processes any
   * number of frames at once.
   */
  readonly queue: TurnQueue | undefined
  readonly #plan: StagePlan
  #element: HostedElement | undefined
  #failure: string | undefined
  #shadow: ElementShadow | undefined
  #openedAt = 0
  /** Number of failures since the element was last stable. */
  #failureCount = 0
  /** The encoded state that the element has taken over from the code that it replaces. */
  #initialState: string | undefined
  /** Whether the element has not processed a frame with a discontinuity, and none since. */
  #hasMissedDiscontinuity = false
  /** Whether the element has lost its state since `takeStateLoss` was last called. */
  #hasLostState = false

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

  /** Opens the element. If that fails, `failure` contains the reason afterwards. */
  async open(context: OpenContext): Promise<void> {
    const opened = this.#plan.open(context, ms => this.#shadow?.tally.active.recordCost(ms))
    try {
      const element = await withTimeout(MAX_OPEN_MS, opened, 'not opened')
      // The media service rejects a request for several views if one of them is invalid.
      if (element.view) parseAs(viewSpec, element.view, '/view')
      this.#element = element
      this.#openedAt = performance.now()
    } catch (error) {
      // Closes the element if it opens after the timeout. If it fails to open, there
      // is nothing to close.
      opened.then(element => element.close?.()).catch(() => {})
      this.#fail(error)
    }
  }

  /**
   * Processes a frame. Returns `overwritten` if its picture was no longer available, `failed` if
   * the element fails or is closed.
   */
  async process(received: Frame): Promise<FrameResult | 'overwritten' | 'failed'> {
    const element = this.#element
    if (!element) {
      this.miss(received)
      return 'failed'
    }
    const frame = this.#hasMissedDiscontinuity ? { ...received, discontinuity: true } : received
    this.#hasMissedDiscontinuity = false
    try {
      const maxMs = element.isInspected ? MAX_INSPECTED_MS : MAX_PROCESS_MS
      const result = parseFrameResult(await withTimeout(maxMs, element.process(frame)))
      // Another frame may have closed the element in the meantime.
      if (element === this.#element) this.#recover()
      this.#shadow?.offer(frame, result)
      return result
    } catch (error) {
      this.miss(frame)
      if (error instanceof FrameDroppedError) return 'overwritten'
      if (element === this.#element) this.#fail(error)
      return 'failed'
    }
  }

  /** Must be called for each frame that the element has not processed. */
  miss({ discontinuity }: Pick<Frame, 'discontinuity'>): void {
    this.#hasMissedDiscontinuity ||= discontinuity
  }

  /**
   * Returns whether the element was opened again, and began without its state, since the last
   * call.
   */
  takeStateLoss(): boolean {
    const hasLostState = this.#hasLostState
    this.#hasLostState = false
    return hasLostState
  }

  /**
   * Offers each frame to another version of the element, too, which is compared with this
   * one until `endShadow`.
   */
  startShadow(shadow: ElementShadow): void {
    this.endShadow()
    this.#shadow = shadow
  }

  endShadow(): void {
    this.#shadow?.close()
    this.#shadow = undefined
  }

  /**
   * Continues with the state of `previous`, if both elements are of the same development version.
   * The state may be from before a discontinuity that `previous` has missed. Waits until `previous`
   * has processed its frames. The frames of this stage wait in the meantime.
   */
  async takeOverState(previous: Stage | undefined): Promise<void> {
    const { development } = this.#plan
    if (!previous || !development || previous.#plan.development?.version !== development.version) {
      return
    }
    const previousTurn = previous.queue?.enqueue()
    const ownTurn = this.queue?.enqueue()
    try {
      await previousTurn?.ready
      await ownTurn?.ready
      this.miss({ discontinuity: previous.#hasMissedDiscontinuity })
      const replacement = await this.#restoreState(await previous.#saveState())
      if (replacement) development.onStateReplaced(replacement)
    } catch (error) {
      development.onStateReplaced({ problem: (error as Error).message, isOutdated: false })
    } finally {
      previousTurn?.finish()
      ownTurn?.finish()
    }
  }

  /**
   * Saves the state of the element. If the element has failed, only the state with which it
   * has begun is available.
   */
  async #saveState(): Promise<SavedState> {
    const remoteState = this.#failure === undefined ? this.#element?.remoteState : undefined
    if (remoteState) return { ...(await remoteState.save()), isOutdated: false }
    if (this.#initialState !== undefined) return { state: this.#initialState, isOutdated: true }
    return { problem: 'the replaced code has failed', isOutdated: true }
  }

  /**
   * Restores the state of earlier code. Returns undefined if that code had no state, or if this
   * element has failed to open: code that replaces it then continues with the state.
   */
  async #restoreState({
    state,
    problem,
    isOutdated,
  }: SavedState): Promise<StateReplacement | undefined> {
    this.#initialState = state
    if (problem !== undefined) return { problem, isOutdated }
    if (state === undefined || !this.#element) return undefined
    return { problem: await this.#element.remoteState?.restore(state), isOutdated }
  }

  /** Closes the element for good. It no longer counts as failed. */
  end(): void {
    this.endShadow()
    this.#recover()
    this.close()
  }

  /** Delay before the element is reopened, in ms. */
  retryDelayMs(backoff: Backoff, random: () => number): number {
    return backoffDelayMs(this.#failureCount - 1, backoff, random)
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
    this.#failureCount = wasStable ? 1 : this.#failureCount + 1
    this.#hasLostState = !this.#plan.isStateless
    this.#failure = `${this.name}: ${error instanceof Error ? error.message : String(error)}`
    this.#plan.onHealth?.(this.#failure)
    this.#shadow?.tally.active.recordFailure(this.#failure)
    this.close()
  }
}
