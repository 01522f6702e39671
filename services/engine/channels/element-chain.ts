import type { ViewSpec } from '@eyrie/contract/view'
import type {
  Counter,
  Counters,
  DetectedObject,
  Element,
  EventData,
  FrameResult,
  PictureSize,
} from '@eyrie/element'
import { type Backoff, type Span, sleep } from '@eyrie/kit'
import { createWakeUp } from '@eyrie/kit/wake-up'
import type { FrameStamp } from '../frames/ring-reader.ts'
import type { OpenContext } from '../plugin-host/open-element.ts'
import type { ShadowTally } from '../plugin-host/shadow/shadow-tally.ts'
import { ElementShadow } from './element-shadow.ts'
import { Stage } from './stage.ts'
import type { StagePlan } from './stage-plan.ts'

/** The combined results of all elements of a channel for one frame. */
export interface Analysis {
  objects: readonly DetectedObject[]
  counters: Readonly<Counters>
  events: readonly EventData[]
}

/** A frame that was dropped by an element. */
export interface DroppedFrame {
  cause: 'overwritten' | 'failed'
  /** The events of the elements before it. */
  events: readonly EventData[]
}

export interface ElementChainOptions {
  /**
   * Finds the ring buffer in shared memory to which the media service writes the pictures of a
   * view.
   */
  findRing: OpenContext['findRing']
  /** Delays between the attempts to reopen a failed element. */
  backoff: Backoff
  random: () => number
  /** Called after an element has opened or failed. */
  onChange(): void
}

/** Another version of an element, which is compared with it. */
export interface ShadowRequest {
  /** Name of its plugin. */
  plugin: string
  open(context: OpenContext): Promise<Element>
  tally: ShadowTally
}

/**
 * Runs the elements of a channel, such as a detector and a tracker, in order on each frame. Each
 * element reads the objects of the previous ones and adds to the results. A failed element is
 * reopened with back-off, while the other elements keep their state. An element with state
 * processes one frame at a time, in the order of the calls of `process`.
 */
export class ElementChain {
  /** Resolves when all elements are open, or when the first element has failed to open. */
  readonly initialized: Promise<void>
  readonly #stages: readonly Stage[]
  readonly #options: ElementChainOptions
  readonly #stopping = new AbortController()
  /** Ends the delay before a failed element is opened again. */
  readonly #wakeUp = createWakeUp(this.#stopping.signal)
  #isOpening = false
  /** Number of frames in the chain. */
  #frameCount = 0
  #isRetired = false
  readonly #closed = Promise.withResolvers<void>()

  constructor(plans: readonly StagePlan[], options: ElementChainOptions) {
    this.#stages = plans.map(plan => new Stage(plan))
    this.#options = options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.initialized = promise
    void this.#openElements(resolve)
  }

  /** Whether all elements are open. */
  get isReady(): boolean {
    return this.#stages.every(({ element }) => element)
  }

  /** Why an element has failed; undefined if none has. */
  get failure(): string | undefined {
    return this.#stages.find(({ failure }) => failure)?.failure
  }

  /** The size and format of the pictures that the open elements and their models read. */
  get views(): ViewSpec[] {
    return this.#stages.flatMap(({ element }) =>
      [element?.view, element?.modelView].filter(view => view !== undefined),
    )
  }

  /** Static metadata of the open elements, such as lines and zones, by element name. */
  get metadata(): Record<string, unknown> {
    const metadataByName: Record<string, unknown> = {}
    for (const { name, element } of this.#stages) {
      if (element?.metadata) metadataByName[name] = element.metadata
    }
    return metadataByName
  }

  /**
   * Runs a frame through all elements. `upstream` contains the results of another engine for
   * this frame. Each element adds a child span to `trace`. Between two spans, the frame waited
   * for the next element. If an element drops a frame with a discontinuity, the elements that it
   * has not reached learn of it with their next frame. A discontinuity also tells the elements
   * after a reopened one that its tracks have ended: a tracker assigns its ids anew.
   */
  async process(
    received: FrameStamp,
    upstream: Pick<Analysis, 'objects' | 'events'> = { objects: [], events: [] },
    trace?: Span,
  ): Promise<Analysis | DroppedFrame> {
    let stamp = received
    let analysis: Analysis = { objects: upstream.objects, counters: {}, events: upstream.events }
    let lowScoreObjects: readonly DetectedObject[] = []
    // A turn is a place in the queue of an element. The frame enters all queues at once, so that
    // the order of the frames is the same at each element.
    const turns = this.#stages.map(({ queue }) => queue?.enqueue())
    this.#frameCount += 1
    try {
      for (const [index, stage] of this.#stages.entries()) {
        await turns[index]?.ready
        const { objects, counters } = analysis
        const span = trace?.child(stage.name)
        const result = await stage.process({ ...stamp, objects, lowScoreObjects, counters })
        span?.end(typeof result === 'string' ? result : undefined)
        if (result === 'failed') void this.#openElements()
        if (typeof result === 'string') {
          for (const missed of this.#stages.slice(index + 1)) missed.miss(stamp)
          return { cause: result, events: analysis.events }
        }

        turns[index]?.finish()
        if (stage.takeStateLoss()) stamp = { ...stamp, discontinuity: true }
        analysis = addResult(analysis, stage.name, result)
        lowScoreObjects = result.lowScoreObjects ?? lowScoreObjects
      }
      return analysis
    } finally {
      // Later frames must not wait for a frame that was dropped.
      for (const turn of turns) turn?.finish()
      this.#frameCount -= 1
      this.#closeIfUnused()
    }
  }

  /** Opens failed elements at once, without waiting for the next attempt. */
  retry(): void {
    this.#wakeUp.notify()
  }

  /**
   * Retires the chain that this one replaces, when elements under development have taken over the
   * states of its elements. Must be called before the first frame.
   */
  async succeed(previous: ElementChain): Promise<void> {
    await Promise.all(
      this.#stages.map((stage, index) => stage.takeOverState(previous.#stages[index])),
    )
    return previous.retire()
  }

  /**
   * Closes the elements when they have processed the frames in the chain, and resolves then. No
   * other frames may follow.
   */
  retire(): Promise<void> {
    this.#isRetired = true
    this.#closeIfUnused()
    return this.#closed.promise
  }

  #closeIfUnused(): void {
    if (this.#isRetired && this.#frameCount === 0) this.close()
  }

  close(): void {
    this.#stopping.abort()
    for (const stage of this.#stages) stage.end()
    this.#closed.resolve()
  }

  /**
   * Compares another version of the element at `index` with it. The comparison ends with the chain.
   */
  startShadow(index: number, { plugin, open, tally }: ShadowRequest): void {
    const stage = this.#stages[index]!
    const openShadow = () =>
      open({ size: this.#sizeBefore(stage), findRing: this.#options.findRing })
    stage.startShadow(new ElementShadow({ plugin, open: openShadow, tally }))
  }

  endShadows(plugin: string): void {
    for (const stage of this.#stages) if (stage.shadow?.plugin === plugin) stage.endShadow()
  }

  /**
   * Opens closed elements in order, until all are open. Calls `onFirstAttempt` after success or
   * after the first failure.
   */
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
        await sleep(stage.retryDelayMs(backoff, random), this.#wakeUp.listen())
      }
      if (!signal.aborted) await stage.open({ size: this.#sizeBefore(stage), findRing })
    }

    this.#isOpening = false
    if (signal.aborted) this.close()
    else onChange()
    onFirstAttempt?.()
  }

  /** The size to which the last earlier element that resizes pictures has resized them. */
  #sizeBefore(stage: Stage): PictureSize | undefined {
    const earlier = this.#stages.slice(0, this.#stages.indexOf(stage))
    return earlier.findLast(({ element }) => element?.size)?.element?.size
  }
}

/** Adds the result of an element to the results of the elements before it. */
function addResult(
  analysis: Analysis,
  element: string,
  { objects, counters, events = [] }: FrameResult,
): Analysis {
  return {
    objects: objects ?? analysis.objects,
    counters: mergeCounters(analysis.counters, element, counters),
    events: [...analysis.events, ...events],
  }
}

/**
 * Adds the counters of an element. It may add keys to a counter of an earlier element. If both
 * count the same key, they count different things, such as a line and a zone of the same name: the
 * name of the element is appended to that of its counter.
 */
function mergeCounters(
  counters: Readonly<Counters>,
  element: string,
  added: Counters | undefined,
): Readonly<Counters> {
  if (!added) return counters
  const merged = { ...counters }
  for (const [name, counter] of Object.entries(added)) {
    const ownName = findOwnName(merged, { name, element, counter })
    merged[ownName] = { ...merged[ownName], ...counter }
  }
  return merged
}

/** Returns the name under which the counter of an element is added to `counters`. */
function findOwnName(
  counters: Readonly<Counters>,
  { name, element, counter }: { name: string; element: string; counter: Counter },
): string {
  const isTaken = (candidate: string) =>
    Object.keys(counter).some(key => Object.hasOwn(counters[candidate] ?? {}, key))
  if (!isTaken(name)) return name

  const qualified = `${name} (${element})`
  let candidate = qualified
  for (let number = 2; isTaken(candidate); number++) candidate = `${qualified} ${number}`
  return candidate
}
