import type { Span, Tracer } from '@eyrie/kit/tracer'
import type { ChannelPlan } from '../plan/plan.ts'

/** Minimum time between two traced frames of a channel: most frames take the same time. */
const MIN_INTERVAL_MS = 1000

/**
 * Traces some of the frames of a channel, from arrival to publication. A trace shows how long each
 * step took, and is exported to a tracing system such as Jaeger.
 */
export class FrameTraces {
  readonly #tracer: Tracer
  readonly #plan: ChannelPlan
  #lastArrivedAt = Number.NEGATIVE_INFINITY

  constructor(tracer: Tracer, plan: ChannelPlan) {
    this.#tracer = tracer
    this.#plan = plan
  }

  /**
   * Starts the trace of frame `n`; undefined if the frame is not traced. `arrivedAt` in ms of
   * the monotonic clock.
   */
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
