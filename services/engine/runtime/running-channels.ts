import { isDeepStrictEqual } from 'node:util'
import type { PipelineElement } from '@eyrie/contract/pipeline'
import type { Channel } from '../channels/channel.ts'
import type { ChannelPlan, Plan, SourcePlan } from '../plan/plan.ts'

/** What a channel is made of; it is made again exactly when this changes. */
export interface ChannelIdentity {
  plan: ChannelPlan
  source: SourcePlan
  elements: readonly PipelineElement[]
}

export interface RunningChannelsOptions {
  /** What an element is to one source: what its config says to others makes no difference. */
  identify(element: PipelineElement, source: number): unknown
  create(identity: ChannelIdentity): Channel
}

/** The channels that run. */
export class RunningChannels {
  readonly #options: RunningChannelsOptions
  #running = new Map<number, { channel: Channel; identity: unknown }>()
  readonly #leaving = new Set<Channel>()

  constructor(options: RunningChannelsOptions) {
    this.#options = options
  }

  get(id: number): Channel | undefined {
    return this.#running.get(id)?.channel
  }

  all(): Channel[] {
    return [...this.#running.values()].map(({ channel }) => channel)
  }

  /**
   * Makes what runs equal to the plan. RunningChannels that are gone from it go when those that are new are at work, and so does
   * what is left of those that were made again.
   */
  apply(plan: Plan): void {
    const before = this.#running
    const fresh: Channel[] = []
    this.#running = new Map()
    for (const identity of identitiesOf(plan)) {
      const { id } = identity.plan
      const same = before.get(id)
      const comparable = this.#comparable(identity)
      if (same && isDeepStrictEqual(same.identity, comparable)) {
        before.delete(id)
        this.#running.set(id, same)
      } else {
        same?.channel.end()
        const channel = this.#options.create(identity)
        fresh.push(channel)
        this.#running.set(id, { channel, identity: comparable })
      }
    }
    this.#dismiss(
      [...before.values()].map(({ channel }) => channel),
      fresh,
    )
  }

  stop(): void {
    for (const channel of [...this.all(), ...this.#leaving]) channel.stop()
  }

  #dismiss(gone: readonly Channel[], fresh: readonly Channel[]): void {
    for (const channel of gone) this.#leaving.add(channel)
    void Promise.all(fresh.map(({ settled }) => settled)).then(() => {
      for (const channel of gone) {
        channel.stop()
        this.#leaving.delete(channel)
      }
    })
  }

  #comparable({ plan, source, elements }: ChannelIdentity): unknown {
    const own = elements.map(element => this.#options.identify(element, plan.source))
    return { plan, source: { ...source, ended: false, recording: undefined }, elements: own }
  }
}

function identitiesOf({ channels, sources, pipelines }: Plan): ChannelIdentity[] {
  return channels.flatMap(plan => {
    const source = sources.find(({ id }) => id === plan.source)
    const pipeline = pipelines.find(({ id }) => id === plan.pipeline)
    return source && pipeline ? { plan, source, elements: pipeline.elements } : []
  })
}
