import type { Span, Tracer } from '@eyrie/kit/tracer'
import type { ChannelPlan } from '../plan/plan.ts'

/** At most one trace per channel and interval: frames are many and much alike. */
const MIN_INTERVAL_MS = 1000

/** Traces a sample of a channel's frames from arrival to publication. */
export class FrameTraces {
  readonly #tracer: Tracer
  readonly #plan: ChannelPlan
  #lastArrivedAt = Number.NEGATIVE_INFINITY

  constructor(tracer: Tracer, plan: ChannelPlan) {
    this.#tracer = tracer
    this.#plan = plan
  }

  /** Returns undefined for a frame that is not sampled. `arrivedAt` in ms of the monotonic clock. */
  start(n: number, arrivedAt: number): Span | undefined {
    if (arrivedAt - this.#lastArrivedAt < MIN_INTERVAL_MS) return undefined
    this.#lastArrivedAt = arrivedAt
    const { id, source, pipeline } = this.#plan
    return this.#tracer.startSpan('frame', {
      root: true,
      startedAt: arrivedAt,
      attributes: {
        'eyrie.channel': id,
        'eyrie.source': source,
        'eyrie.pipeline': pipeline,
        'eyrie.n': n,
      },
    })
  }
}
