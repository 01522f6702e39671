import type { Sink as SinkPlan } from '@eyrie/contract/sink'
import type { Plan } from '../ports.ts'
import { openSink, type SinkContext } from './open.ts'
import type { Sink } from './sink.ts'

/** The sinks that are open, by their ids. */
export class Sinks {
  readonly #context: SinkContext
  #open = new Map<number, { plan: SinkPlan; sink: Sink }>()
  #closing = Promise.resolve()

  constructor(context: SinkContext) {
    this.#context = context
  }

  /** Opens what is new, closes what is gone, leaves what is the same. */
  apply(plans: readonly SinkPlan[]): void {
    const before = this.#open
    this.#open = new Map(
      plans.map(plan => {
        const same = before.get(plan.id)
        if (same && same.plan.type === plan.type && same.plan.address === plan.address)
          return [plan.id, { ...same, plan }]
        return [plan.id, { plan, sink: openSink(plan, this.#context) }]
      }),
    )
    const kept = new Set([...this.#open.values()].map(({ sink }) => sink))
    const gone = [...before.values()].filter(({ sink }) => !kept.has(sink))
    this.#closing = Promise.all([this.#closing, ...gone.map(each => this.#close(each))]).then(() => {})
  }

  /** What is wrong with a sink that nobody wants any more concerns nothing else. */
  async #close({ plan: { id, type }, sink }: { plan: SinkPlan; sink: Sink }): Promise<void> {
    await sink.close().catch(error => {
      this.#context.log.error({ err: error, sink: id }, `sink ${id} (${type}) was not closed as it should be`)
    })
  }

  /** Tells each sink the channels that it gets frames from. */
  serve({ channels, pipelines }: Pick<Plan, 'channels' | 'pipelines'>): void {
    const sinksOf = new Map(pipelines.map(({ id, sinks }) => [id, sinks]))
    for (const [id, { sink }] of this.#open) {
      const feeds = (pipeline: number) => sinksOf.get(pipeline)?.includes(id)
      sink.serve?.(
        channels.filter(({ pipeline, source }) => feeds(pipeline) && this.of([id], source).length > 0),
      )
    }
  }

  /** Those of the sinks `ids` that want what comes from `source`. */
  of(ids: readonly number[], source: number): Sink[] {
    return ids.flatMap(id => {
      const known = this.#open.get(id)
      if (!known) return []
      const { filter } = known.plan
      return filter.length === 0 || filter.includes(source) ? known.sink : []
    })
  }

  /** Resolves when everything is on the disk. */
  async close(): Promise<void> {
    this.apply([])
    await this.#closing
  }
}
