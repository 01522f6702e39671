import type { ModelShadowComparison, ModelShadowSide } from '@eyrie/contract/model-upgrade'
import type { DetectedObject } from '@eyrie/contract/object'
import type { Frame } from '@eyrie/element'
import { CostSamples, findPercentile } from '../statistics/cost-samples.ts'
import { compareBoxes } from './compare-boxes.ts'

const MICROSECONDS_PER_MS = 1000

/** What one model has found in a frame, and the CPU time of its inference. */
export interface MeasuredDetection {
  objects: readonly DetectedObject[]
  cpuMs: number
}

/** What one model does on a channel while another one runs in shadow. */
class ModelSide {
  #failures = 0
  #lastFailure: string | undefined
  readonly #costs = new CostSamples()
  readonly #objects = new Map<string, number>()

  recordFailure(reason: string): void {
    this.#failures += 1
    this.#lastFailure = reason
  }

  recordDetection({ objects, cpuMs }: MeasuredDetection): void {
    this.#costs.record(cpuMs)
    for (const { class: name } of objects) this.#objects.set(name, (this.#objects.get(name) ?? 0) + 1)
  }

  summarize(frames: number, budgetMs: number | undefined): ModelShadowSide {
    const { latest, isEmpty, mean } = this.#costs
    const overBudget = budgetMs === undefined ? 0 : latest.filter(ms => ms > budgetMs).length
    return {
      failures: this.#failures,
      ...(this.#lastFailure !== undefined && { last_failure: this.#lastFailure }),
      ...(!isEmpty && {
        cpu_ms: {
          mean: round(mean),
          p50: round(findPercentile(latest, 0.5)),
          p99: round(findPercentile(latest, 0.99)),
        },
      }),
      over_budget: round(overBudget / Math.max(latest.length, 1)),
      objects: Object.fromEntries([...this.#objects].map(([name, count]) => [name, round(count / frames)])),
    }
  }
}

/** Compares a model with the one that runs in shadow on a channel. */
export class ModelTally {
  readonly channel: number
  readonly active = new ModelSide()
  readonly candidate = new ModelSide()
  /** Why the model in shadow does not run any more. */
  problem: string | undefined
  #frames = 0
  #skipped = 0
  readonly #interval = new FrameInterval()
  readonly #agreement = { both: 0, other_class: 0, active_only: 0, candidate_only: 0 }
  #overlapSum = 0

  constructor(channel: number) {
    this.channel = channel
  }

  /** Records a frame that the active model has processed. */
  recordOffer(frame: Pick<Frame, 'n' | 'time'>): void {
    this.#interval.record(frame)
  }

  recordSkipped(): void {
    this.#skipped += 1
  }

  /** Records what both models have found in a frame. */
  recordFrame(active: MeasuredDetection, candidate: MeasuredDetection): void {
    this.#frames += 1
    this.active.recordDetection(active)
    this.candidate.recordDetection(candidate)
    const { both, otherClass, activeOnly, candidateOnly } = compareBoxes(active.objects, candidate.objects)
    const agreement = this.#agreement
    agreement.both += both.length
    agreement.other_class += otherClass
    agreement.active_only += activeOnly
    agreement.candidate_only += candidateOnly
    for (const overlap of both) this.#overlapSum += overlap
  }

  summarize(): ModelShadowComparison {
    const budgetMs = this.#interval.ms
    const { both } = this.#agreement
    return {
      channel: this.channel,
      frames: this.#frames,
      skipped: this.#skipped,
      ...(budgetMs !== undefined && { budget_ms: round(budgetMs) }),
      ...(this.problem !== undefined && { problem: this.problem }),
      active: this.active.summarize(this.#frames, budgetMs),
      candidate: this.candidate.summarize(this.#frames, budgetMs),
      agreement: {
        ...this.#agreement,
        ...(both > 0 && { mean_iou: round(Math.min(this.#overlapSum / both, 1)) }),
      },
    }
  }
}

/** Measures the time between two frames of a source, some of which may be missing. */
class FrameInterval {
  #first: Pick<Frame, 'n' | 'time'> | undefined
  #last: Pick<Frame, 'n' | 'time'> | undefined

  record({ n, time }: Pick<Frame, 'n' | 'time'>): void {
    const last = this.#last
    // Frames can arrive out of order.
    if (last && n <= last.n && time <= last.time) return
    const hasRestarted = last && (n <= last.n || time <= last.time)
    if (!this.#first || hasRestarted) this.#first = { n, time }
    this.#last = { n, time }
  }

  get ms(): number | undefined {
    const [first, last] = [this.#first, this.#last]
    if (!first || !last || last.n === first.n) return undefined
    return (last.time - first.time) / (last.n - first.n) / MICROSECONDS_PER_MS
  }
}

const round = (value: number) => Math.round(value * 1000) / 1000
