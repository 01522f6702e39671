import type { Span, Tracer } from '@eyrie/kit/tracer'
import type { ChannelPlan } from '../plan/plan.ts'

/** A channel begins one trace in this time at most: frames are many and much alike. */
const INTERVAL_MS = 1000

/** The ways of some of a channel's frames, from their arrival to what is published of them. */
export class FrameTraces {
  readonly #tracer: Tracer
  readonly #plan: ChannelPlan
  #newestAt = Number.NEGATIVE_INFINITY

  constructor(tracer: Tracer, plan: ChannelPlan) {
    this.#tracer = tracer
    this.#plan = plan
  }

  /** `arrivedAt`: ms of the monotonic clock. Undefined for a frame that is not traced. */
  begin(n: number, arrivedAt: number): Span | undefined {
    if (arrivedAt - this.#newestAt < INTERVAL_MS) return undefined
    this.#newestAt = arrivedAt
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
