import { setTimeout as sleep } from 'node:timers/promises'
import type { ViewSpec } from '@eyrie/contract/view'
import type { Counters, DetectedObject, EventData, PictureSize } from '@eyrie/element'
import type { Backoff, Span } from '@eyrie/kit'
import type { FrameStamp } from '../frames/ring-reader.ts'
import type { OpenContext } from '../plugin-host/open-element.ts'
import { Stage } from './stage.ts'
import type { StagePlan } from './stage-plan.ts'

/** The combined results of all elements of a channel for one frame. */
export interface Analysis {
  objects: readonly DetectedObject[]
  counters: Readonly<Counters>
  events: readonly EventData[]
}

export interface ElementChainOptions {
  findRing: OpenContext['findRing']
  backoff: Backoff
  random: () => number
  /** Called after an element has opened or failed. */
  onChange(): void
}

/**
 * Runs the elements of a channel in order. A failed element is reopened with back-off while the others keep their state.
 * A frame enters a stateful element only after the previous frame has left it, in the order of the calls of `process`.
 */
export class ElementChain {
  /** Resolves when all elements are open, or after the first one has failed to open. */
  readonly initialized: Promise<void>
  readonly #stages: readonly Stage[]
  readonly #options: ElementChainOptions
  readonly #stopping = new AbortController()
  #isOpening = false

  constructor(plans: readonly StagePlan[], options: ElementChainOptions) {
    this.#stages = plans.map(plan => new Stage(plan))
    this.#options = options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.initialized = promise
    void this.#openElements(resolve)
  }

  get isReady(): boolean {
    return this.#stages.every(({ element }) => element)
  }

  get failure(): string | undefined {
    return this.#stages.find(({ failure }) => failure)?.failure
  }

  get views(): ViewSpec[] {
    return this.#stages.flatMap(({ element }) => element?.view ?? [])
  }

  /** Static metadata of the open elements, such as lines and zones, by element name. */
  get metadata(): Record<string, unknown> {
    return Object.fromEntries(
      this.#stages.flatMap(({ name, element }) => (element?.metadata ? [[name, element.metadata]] : [])),
    )
  }

  /**
   * Runs a frame through all elements. `upstream` holds the results of another engine for this frame. Each element adds a
   * child span to `trace`; time between two spans was spent waiting for a turn.
   */
  async process(
    stamp: FrameStamp,
    upstream: Pick<Analysis, 'objects' | 'events'> = { objects: [], events: [] },
    trace?: Span,
  ): Promise<Analysis | 'overwritten' | 'failed'> {
    const turns = this.#stages.map(({ queue }) => queue?.enqueue())
    let { objects, events } = upstream
    let counters: Analysis['counters'] = {}
    try {
      for (const [i, stage] of this.#stages.entries()) {
        await turns[i]?.ready
        const span = trace?.child(stage.name)
        const result = await stage.process({ ...stamp, objects, counters })
        span?.end(typeof result === 'string' ? result : undefined)
        turns[i]?.finish()
        if (result === 'failed') void this.#openElements()
        if (typeof result === 'string') return result
        objects = result.objects ?? objects
        counters = mergeCounters(counters, result.counters)
        events = result.events ? [...events, ...result.events] : events
      }
      return { objects, counters, events }
    } finally {
      for (const turn of turns) turn?.finish()
    }
  }

  close(): void {
    this.#stopping.abort()
    for (const stage of this.#stages) stage.close()
  }

  /** Opens closed elements, in order, until all are open. Calls `onFirstAttempt` as `initialized` describes. */
  async #openElements(onFirstAttempt?: () => void): Promise<void> {
    if (this.#isOpening) return
    this.#isOpening = true
    const { onChange, backoff, random, findRing } = this.#options
    const { signal } = this.#stopping
    while (!this.isReady && !signal.aborted) {
      const stage = this.#stages.find(({ element }) => !element)!
      if (stage.failure) {
        onChange()
        onFirstAttempt?.()
        await sleep(stage.retryDelayMs(backoff, random), undefined, { signal }).catch(() => {})
      }
      if (!signal.aborted) await stage.open({ size: this.#sizeBefore(stage), findRing })
    }
    this.#isOpening = false
    if (signal.aborted) this.close()
    else onChange()
    onFirstAttempt?.()
  }

  /** The picture size requested by the nearest earlier element that requests one. */
  #sizeBefore(stage: Stage): PictureSize | undefined {
    const earlier = this.#stages.slice(0, this.#stages.indexOf(stage))
    return earlier.findLast(({ element }) => element?.size)?.element?.size
  }
}

/** Counters with the same name are merged, even when they come from different elements. */
function mergeCounters(counters: Readonly<Counters>, added: Counters | undefined): Readonly<Counters> {
  if (!added) return counters
  const merged = { ...counters }
  for (const [name, counter] of Object.entries(added)) merged[name] = { ...merged[name], ...counter }
  return merged
}
