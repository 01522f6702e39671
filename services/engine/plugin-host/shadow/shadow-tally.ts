import type { ShadowComparison, ShadowSide } from '@eyrie/contract/plugin-upgrade'
import type { Counters, EventData, FrameResult } from '@eyrie/element'
import { CostSamples } from '../../statistics/cost-samples.ts'
import { quantile } from '../../statistics/quantile.ts'
import { roundToThousandths } from '../../statistics/round.ts'
import type { ProcessUsage } from '../sandbox/limits/process-usage.ts'

/**
 * Counts the results, costs and failures of one of two versions of an element, which are
 * compared on a channel.
 */
class SideTally {
  readonly #budgetMs: number | undefined
  #failures = 0
  #lastFailure: string | undefined
  readonly #costs = new CostSamples()
  /** Number of frames that took longer than the budget. */
  #overBudget = 0
  /** Total number of objects in all frames. */
  #objects = 0
  /** Number of events by type. */
  readonly #events = new Map<string, number>()
  #firstCounters: Counters | undefined
  #lastCounters: Counters = {}

  constructor(budgetMs: number | undefined) {
    this.#budgetMs = budgetMs
  }

  recordCost(ms: number): void {
    this.#costs.record(ms)
    if (this.#budgetMs !== undefined && ms > this.#budgetMs) this.#overBudget += 1
  }

  recordFailure(reason: string): void {
    this.#failures += 1
    this.#lastFailure = reason
  }

  recordResult(objects: number, { events = [], counters }: FrameResult): void {
    this.#objects += objects
    for (const { type } of events) this.#events.set(type, (this.#events.get(type) ?? 0) + 1)
    // Omitted counters are unchanged.
    if (!counters) return
    this.#firstCounters ??= counters
    this.#lastCounters = counters
  }

  summarize(): ShadowSide {
    return {
      failures: this.#failures,
      ...(this.#lastFailure !== undefined && { last_failure: this.#lastFailure }),
      ...(!this.#costs.isEmpty && {
        cpu_ms: {
          mean: roundToThousandths(this.#costs.mean),
          p95: roundToThousandths(quantile(this.#costs.latest, 0.95)),
        },
      }),
      ...(this.#budgetMs !== undefined && { budget_ms: this.#budgetMs }),
      over_budget: this.#overBudget,
      objects: this.#objects,
      events: Object.fromEntries(this.#events),
      counters: subtract(this.#lastCounters, this.#firstCounters ?? {}),
    }
  }
}

/** The element whose versions are compared. */
export interface ShadowSubject {
  channel: number
  element: string
  /** CPU time per frame that the manifests of both versions declare, in ms. */
  budgets: { active: number | undefined; shadow: number | undefined }
}

/** Compares the active version of a channel's element with a version that runs in shadow. */
export class ShadowTally {
  readonly active: SideTally
  readonly shadow: SideTally
  /** Why the version in shadow no longer runs; undefined while it does. */
  problem: string | undefined
  readonly #subject: ShadowSubject
  /** Number of frames that both versions have processed. */
  #frames = 0
  /** Number of frames that only the active version has processed. */
  #skipped = 0
  /**
   * Whether the version in shadow gets too little CPU time: its process has waited for a processor
   * longer than it has run.
   */
  #isStarved = false
  /** Numbers of frames in which the results of the versions differ. */
  readonly #different = { objects: 0, events: 0 }

  constructor(subject: ShadowSubject) {
    this.#subject = subject
    this.active = new SideTally(subject.budgets.active)
    this.shadow = new SideTally(subject.budgets.shadow)
  }

  /** Records what the process of the version in shadow has used since its start. */
  recordUsage({ cpuMs, waitedMs }: Pick<ProcessUsage, 'cpuMs' | 'waitedMs'>): void {
    this.#isStarved = waitedMs > cpuMs
  }

  /** Records that the version in shadow was busy and has skipped a frame. */
  recordSkipped(): void {
    this.#skipped += 1
  }

  /**
   * Records the results of both versions for a frame. `objectsInFrame` is the number of objects
   * that earlier elements have found: a result without `objects` leaves these unchanged.
   */
  recordFrame(objectsInFrame: number, active: FrameResult, shadow: FrameResult): void {
    this.#frames += 1
    const activeObjects = active.objects?.length ?? objectsInFrame
    const shadowObjects = shadow.objects?.length ?? objectsInFrame
    this.active.recordResult(activeObjects, active)
    this.shadow.recordResult(shadowObjects, shadow)
    if (activeObjects !== shadowObjects) this.#different.objects += 1
    if (joinTypes(active.events) !== joinTypes(shadow.events)) this.#different.events += 1
  }

  summarize(): ShadowComparison {
    const { channel, element } = this.#subject
    return {
      channel,
      element,
      frames: this.#frames,
      skipped: this.#skipped,
      ...(this.#isStarved && { starved: true }),
      ...(this.problem !== undefined && { problem: this.problem }),
      active: this.active.summarize(),
      shadow: this.shadow.summarize(),
      different_frames: { ...this.#different },
    }
  }
}

/** Returns the types of events as one text, which does not depend on the order of the events. */
function joinTypes(events: readonly EventData[] = []): string {
  const types = events.map(({ type }) => type)
  return types.sort().join(' ')
}

/** Returns by how much counters have changed. Unchanged counters are omitted. */
function subtract(last: Counters, first: Counters): Counters {
  const changes: Counters = {}
  for (const [name, counter] of Object.entries(last)) {
    const changed: Record<string, number> = {}
    for (const [key, value] of Object.entries(counter)) {
      const change = value - (first[name]?.[key] ?? 0)
      if (change !== 0) changed[key] = change
    }
    if (Object.keys(changed).length > 0) changes[name] = changed
  }
  return changes
}
