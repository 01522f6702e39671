import type { ModelShadowComparison, ModelShadowSide } from '@eyrie/contract/model-upgrade'
import type { DetectedObject } from '@eyrie/contract/object'
import type { Frame } from '@eyrie/element'
import { CostSamples } from '../statistics/cost-samples.ts'
import { quantile } from '../statistics/quantile.ts'
import { roundToThousandths } from '../statistics/round.ts'
import { compareBoxes } from './compare-boxes.ts'

const MICROSECONDS_PER_MS = 1000

/** The objects that a model has found in a frame, and the CPU time of the inference. */
export interface MeasuredDetection {
  objects: readonly DetectedObject[]
  cpuMs: number
}

/** The results, costs and failures of one of two models that are compared on a channel. */
class ModelSide {
  #failures = 0
  #lastFailure: string | undefined
  readonly #costs = new CostSamples()
  /** Number of objects by class. */
  readonly #objects = new Map<string, number>()

  recordFailure(reason: string): void {
    this.#failures += 1
    this.#lastFailure = reason
  }

  recordDetection({ objects, cpuMs }: MeasuredDetection): void {
    this.#costs.record(cpuMs)
    for (const { class: name } of objects) {
      this.#objects.set(name, (this.#objects.get(name) ?? 0) + 1)
    }
  }

  /** `frames` is the number of compared frames, `budgetMs` the time between two frames. */
  summarize(frames: number, budgetMs: number | undefined): ModelShadowSide {
    const { latest } = this.#costs
    const overBudget = budgetMs === undefined ? 0 : latest.filter(ms => ms > budgetMs).length
    const objectsPerFrame = [...this.#objects].map(
      ([name, count]) => [name, roundToThousandths(count / frames)] as const,
    )
    return {
      failures: this.#failures,
      ...(this.#lastFailure !== undefined && { last_failure: this.#lastFailure }),
      ...(!this.#costs.isEmpty && { cpu_ms: summarizeCosts(this.#costs) }),
      over_budget: roundToThousandths(overBudget / Math.max(latest.length, 1)),
      objects: Object.fromEntries(objectsPerFrame),
    }
  }
}

const summarizeCosts = ({ mean, latest }: CostSamples) => ({
  mean: roundToThousandths(mean),
  p50: roundToThousandths(quantile(latest, 0.5)),
  p99: roundToThousandths(quantile(latest, 0.99)),
})

/** Compares the active model of a channel with a candidate that runs in shadow. */
export class ModelTally {
  readonly channel: number
  readonly active = new ModelSide()
  readonly candidate = new ModelSide()
  /** Why the candidate no longer runs; undefined while it does. */
  problem: string | undefined
  /** Number of frames that both models have processed. */
  #frames = 0
  /** Number of frames that only the active model has processed. */
  #skipped = 0
  readonly #interval = new FrameInterval()
  readonly #agreement = { both: 0, other_class: 0, active_only: 0, candidate_only: 0 }
  /** Sum of the intersections over union of the objects that both have found. */
  #overlapSum = 0

  constructor(channel: number) {
    this.channel = channel
  }

  /** Records a frame that the active model has processed, and that is offered to the candidate. */
  recordOffer(frame: Pick<Frame, 'n' | 'time'>): void {
    this.#interval.record(frame)
  }

  /** Records that the candidate was busy and has skipped an offered frame. */
  recordSkipped(): void {
    this.#skipped += 1
  }

  /** Records what both models have found in a frame. */
  recordFrame(active: MeasuredDetection, candidate: MeasuredDetection): void {
    this.#frames += 1
    this.active.recordDetection(active)
    this.candidate.recordDetection(candidate)
    const { overlaps, otherClassCount, activeOnlyCount, candidateOnlyCount } = compareBoxes(
      active.objects,
      candidate.objects,
    )
    this.#agreement.both += overlaps.length
    this.#agreement.other_class += otherClassCount
    this.#agreement.active_only += activeOnlyCount
    this.#agreement.candidate_only += candidateOnlyCount
    for (const overlap of overlaps) this.#overlapSum += overlap
  }

  summarize(): ModelShadowComparison {
    const budgetMs = this.#interval.ms
    const { both } = this.#agreement
    return {
      channel: this.channel,
      frames: this.#frames,
      skipped: this.#skipped,
      ...(budgetMs !== undefined && { budget_ms: roundToThousandths(budgetMs) }),
      ...(this.problem !== undefined && { problem: this.problem }),
      active: this.active.summarize(this.#frames, budgetMs),
      candidate: this.candidate.summarize(this.#frames, budgetMs),
      agreement: {
        ...this.#agreement,
        // Rounding errors may lift the mean above 1.
        ...(both > 0 && { mean_iou: roundToThousandths(Math.min(this.#overlapSum / both, 1)) }),
      },
    }
  }
}

type FrameTime = Pick<Frame, 'n' | 'time'>

/**
 * Measures the mean time between two consecutive frames of a source, even if it does not see all
 * frames.
 */
class FrameInterval {
  #first: FrameTime | undefined
  #last: FrameTime | undefined

  record({ n, time }: FrameTime): void {
    const frame = { n, time }
    this.#first ??= frame
    this.#last ??= frame
    const hasHigherNumber = n > this.#last.n
    const isLater = time > this.#last.time
    // An earlier frame that arrives out of order.
    if (!hasHigherNumber && !isLater) return
    // If only one of the two has increased, the source has restarted its numbers or its clock.
    if (hasHigherNumber !== isLater) this.#first = frame
    this.#last = frame
  }

  /** The mean time in ms; undefined before the second frame. */
  get ms(): number | undefined {
    if (!this.#first || !this.#last || this.#last.n === this.#first.n) return undefined
    const frames = this.#last.n - this.#first.n
    return (this.#last.time - this.#first.time) / frames / MICROSECONDS_PER_MS
  }
}
