import { setTimeout as sleep } from 'node:timers/promises'
import type { Element, Frame, FrameResult } from '@eyrie/element'
import { FrameDroppedError } from '@eyrie/element/inference'
import type { ShadowTally } from '../plugin-host/shadow/shadow-tally.ts'
import { parseFrameResult } from './frame-result.ts'

/** After so many failures, the version does not run any more on this channel. */
const MAX_FAILURES = 10
const REOPEN_DELAY_MS = 500

export interface ElementShadowOptions {
  /** Name of the plugin. */
  plugin: string
  open(): Promise<Element>
  tally: ShadowTally
}

/**
 * Another version of an element, which processes the same frames as the active one. Its results are only compared. The channel
 * never waits for it: frames that arrive while it is busy are skipped.
 */
export class ElementShadow {
  readonly plugin: string
  readonly tally: ShadowTally
  readonly #open: ElementShadowOptions['open']
  readonly #closing = new AbortController()
  #element: Element | undefined
  #isBusy = false
  #failures = 0

  constructor({ plugin, open, tally }: ElementShadowOptions) {
    this.plugin = plugin
    this.#open = open
    this.tally = tally
    void this.#openElement()
  }

  /** Processes a frame for which the active version has returned `active`. */
  offer(frame: Frame, active: FrameResult): void {
    if (this.#element && !this.#isBusy) void this.#process(this.#element, frame, active)
    else this.tally.recordSkipped()
  }

  close(): void {
    this.#closing.abort()
    this.#element?.close?.()
    this.#element = undefined
  }

  async #openElement(): Promise<void> {
    const { signal } = this.#closing
    try {
      const element = await this.#open()
      if (signal.aborted) element.close?.()
      else this.#element = element
    } catch (error) {
      await this.#fail(error)
    }
  }

  async #process(element: Element, frame: Frame, active: FrameResult): Promise<void> {
    this.#isBusy = true
    try {
      const result = parseFrameResult(await element.process(frame))
      if (!this.#closing.signal.aborted) this.tally.recordFrame(frame.objects.length, active, result)
    } catch (error) {
      if (error instanceof FrameDroppedError) this.tally.recordSkipped()
      else await this.#fail(error)
    } finally {
      this.#isBusy = false
    }
  }

  /** Opens the element again after a delay, unless it has failed too often. */
  async #fail(error: unknown): Promise<void> {
    const { signal } = this.#closing
    if (signal.aborted) return
    this.#element?.close?.()
    this.#element = undefined
    this.tally.shadow.recordFailure((error as Error).message)
    this.#failures += 1
    if (this.#failures >= MAX_FAILURES) {
      this.tally.problem = `it has failed ${MAX_FAILURES} times`
      return
    }
    await sleep(REOPEN_DELAY_MS, undefined, { signal }).catch(() => {})
    if (!signal.aborted) void this.#openElement()
  }
}
