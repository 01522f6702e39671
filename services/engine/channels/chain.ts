import { setTimeout as sleep } from 'node:timers/promises'
import type { ViewSpec } from '@eyrie/contract/view'
import type { Counters, DetectedObject, EventData, PictureSize } from '@eyrie/element'
import type { Backoff, Span } from '@eyrie/kit'
import type { FrameStamp } from '../frames/ring-reader.ts'
import type { Opening } from '../plugin-host/open-element.ts'
import { Stage } from './stage.ts'
import type { StagePlan } from './stage-plan.ts'

/** What the elements of a channel have found in a frame. */
export interface Analysis {
  objects: readonly DetectedObject[]
  counters: Readonly<Counters>
  events: readonly EventData[]
}

export interface ChainOptions {
  ringOf: Opening['ringOf']
  backoff: Backoff
  random: () => number
  /** Called when an element has been opened or has failed. */
  onChange(): void
}

/**
 * The elements of a channel in their order. An element that fails is opened again, the others keep what they know.
 * A frame enters the stateful ones when the frame before has left them, in the order of the calls of `process`.
 */
export class Chain {
  /** Resolves when all elements are open, or when the first has failed to. */
  readonly settled: Promise<void>
  readonly #stages: readonly Stage[]
  readonly #options: ChainOptions
  readonly #stopping = new AbortController()
  #restoring = false

  constructor(plans: readonly StagePlan[], options: ChainOptions) {
    this.#stages = plans.map(plan => new Stage(plan))
    this.#options = options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.settled = promise
    void this.#restore(resolve)
  }

  get isUp(): boolean {
    return this.#stages.every(({ element }) => element)
  }

  get failure(): string | undefined {
    return this.#stages.find(({ failure }) => failure)?.failure
  }

  get views(): ViewSpec[] {
    return this.#stages.flatMap(({ element }) => element?.view ?? [])
  }

  /** What the elements show of themselves, by their names. */
  get metadata(): Record<string, unknown> {
    return Object.fromEntries(
      this.#stages.flatMap(({ name, element }) => (element?.metadata ? [[name, element.metadata]] : [])),
    )
  }

  /**
   * `given` is what another engine had found in the frame before it came here. Each element is a part of `trace`, where
   * there is one; the time before it was spent waiting for its turn.
   */
  async process(
    stamp: FrameStamp,
    given: Pick<Analysis, 'objects' | 'events'> = { objects: [], events: [] },
    trace?: Span,
  ): Promise<Analysis | 'gone' | 'failed'> {
    const turns = this.#stages.map(({ lane }) => lane?.take())
    let { objects, events } = given
    let counters: Analysis['counters'] = {}
    try {
      for (const [i, stage] of this.#stages.entries()) {
        await turns[i]?.come
        const part = trace?.child(stage.name)
        const result = await stage.process({ ...stamp, objects, counters })
        part?.end(typeof result === 'string' ? result : undefined)
        turns[i]?.leave()
        if (result === 'failed') void this.#restore()
        if (typeof result === 'string') return result
        objects = result.objects ?? objects
        counters = merge(counters, result.counters)
        events = result.events ? [...events, ...result.events] : events
      }
      return { objects, counters, events }
    } finally {
      for (const turn of turns) turn?.leave()
    }
  }

  close(): void {
    this.#stopping.abort()
    for (const stage of this.#stages) stage.close()
  }

  /** Opens what is closed until nothing is. */
  async #restore(settled?: () => void): Promise<void> {
    if (this.#restoring) return
    this.#restoring = true
    const { signal } = this.#stopping
    while (!this.isUp && !signal.aborted) {
      const down = this.#stages.find(({ element }) => !element)!
      if (down.failure) {
        this.#options.onChange()
        settled?.()
        await sleep(down.waitMs(this.#options.backoff, this.#options.random), undefined, { signal }).catch(
          () => {},
        )
      }
      if (!signal.aborted) await down.open({ size: this.#sizeBefore(down), ringOf: this.#options.ringOf })
    }
    this.#restoring = false
    if (signal.aborted) this.close()
    else this.#options.onChange()
    settled?.()
  }

  #sizeBefore(stage: Stage): PictureSize | undefined {
    return this.#stages.slice(0, this.#stages.indexOf(stage)).findLast(({ element }) => element?.size)
      ?.element?.size
  }
}

/** Counters of one name are counted together, whichever element they come from. */
function merge(before: Readonly<Counters>, more: Counters | undefined): Readonly<Counters> {
  if (!more) return before
  const merged = { ...before }
  for (const [name, counter] of Object.entries(more)) merged[name] = { ...merged[name], ...counter }
  return merged
}
