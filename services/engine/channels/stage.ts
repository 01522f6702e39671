import { parseAs } from '@eyrie/contract/parse'
import { viewSpec } from '@eyrie/contract/view'
import type { Element, Frame, FrameResult } from '@eyrie/element'
import { FrameDroppedError } from '@eyrie/element/inference'
import { type Backoff, backoffDelayMs, withTimeout } from '@eyrie/kit'
import type { Opening } from '../plugin-host/open-element.ts'
import { OPENED_MS } from '../plugin-host/worker-element.ts'
import { checkResult } from './check-result.ts'
import { Lane } from './lane.ts'
import type { StagePlan } from './stage-plan.ts'

const PROCESS_MS = 10_000
/** An element that has held out for so long starts anew with the shortest wait. */
const STEADY_MS = 10_000

/** One element at work in a channel. It is closed when it fails, and opened again by the chain. */
export class Stage {
  readonly name: string
  /** Where frames wait for their turn, unless any number may be inside. */
  readonly lane: Lane | undefined
  readonly #plan: StagePlan
  #element: Element | undefined
  #failure: string | undefined
  #openedAt = 0
  #attempts = 0

  constructor(plan: StagePlan) {
    this.name = plan.name
    this.lane = plan.stateless ? undefined : new Lane()
    this.#plan = plan
  }

  get element(): Element | undefined {
    return this.#element
  }

  /** What went wrong last, until it has worked again. */
  get failure(): string | undefined {
    return this.#failure
  }

  async open(opening: Opening): Promise<void> {
    const opened = this.#plan.open(opening)
    try {
      const element = await withTimeout(OPENED_MS, opened, 'not opened')
      // One bad view would spoil all that is asked of media.
      if (element.view) parseAs(viewSpec, element.view, '/view')
      this.#element = element
      this.#openedAt = performance.now()
    } catch (error) {
      opened.then(late => late.close?.()).catch(() => {})
      this.#fail(error)
    }
  }

  /** `failed` where this or another frame has brought the element down. */
  async process(frame: Frame): Promise<FrameResult | 'gone' | 'failed'> {
    const element = this.#element
    if (!element) return 'failed'
    try {
      const result = checkResult(await withTimeout(PROCESS_MS, element.process(frame)))
      if (element === this.#element) this.#failure = undefined
      return result
    } catch (error) {
      if (error instanceof FrameDroppedError) return 'gone'
      if (element === this.#element) this.#fail(error)
      return 'failed'
    }
  }

  /** How long to wait before it is opened again, in ms. */
  waitMs(backoff: Backoff, random: () => number): number {
    return backoffDelayMs(this.#attempts - 1, backoff, random)
  }

  close(): void {
    const element = this.#element
    this.#element = undefined
    try {
      element?.close?.()
    } catch {
      // It is given up in any case.
    }
  }

  #fail(error: unknown): void {
    const heldOut = this.#element !== undefined && performance.now() - this.#openedAt > STEADY_MS
    this.#attempts = heldOut ? 1 : this.#attempts + 1
    this.#failure = `${this.name}: ${error instanceof Error ? error.message : String(error)}`
    this.close()
  }
}
