import { isDeepStrictEqual } from 'node:util'
import type { PipelineElement } from '@eyrie/contract/pipeline'
import type { Channel } from '../channels/channel.ts'
import type { ChannelPlan, Plan, SourcePlan } from '../plan/plan.ts'

/** Everything that a channel is created from. */
export interface ChannelSpec {
  plan: ChannelPlan
  source: SourcePlan
  elements: readonly PipelineElement[]
}

export interface RunningChannelsOptions {
  /** The part of an element's configuration that affects `source`: a change of the rest does not replace the channel. */
  toComparableElement(element: PipelineElement, source: number): unknown
  create(spec: ChannelSpec): Channel
}

interface RunningChannel {
  channel: Channel
  /** The channel is replaced exactly when this changes. */
  comparable: unknown
}

/** The running channels, by id. */
export class RunningChannels {
  readonly #options: RunningChannelsOptions
  #running = new Map<number, RunningChannel>()
  /** Removed or replaced channels that stop when their successors are initialized. */
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
   * Creates, replaces and removes channels to match the plan. Removed channels, and what is left of replaced ones, stop when
   * the new channels are initialized.
   */
  apply(plan: Plan): void {
    const obsolete = this.#running
    const created: Channel[] = []
    this.#running = new Map()
    for (const spec of toChannelSpecs(plan)) {
      const { id } = spec.plan
      const existing = obsolete.get(id)
      const comparable = this.#toComparable(spec)
      if (existing && isDeepStrictEqual(existing.comparable, comparable)) {
        obsolete.delete(id)
        this.#running.set(id, existing)
        continue
      }
      existing?.channel.stopAnalysis()
      const channel = this.#options.create(spec)
      created.push(channel)
      this.#running.set(id, { channel, comparable })
    }
    const removed = [...obsolete.values()].map(({ channel }) => channel)
    void this.#stopAfter(created, removed)
  }

  stop(): void {
    for (const channel of [...this.all(), ...this.#leaving]) channel.stop()
  }

  async #stopAfter(created: readonly Channel[], removed: readonly Channel[]): Promise<void> {
    for (const channel of removed) this.#leaving.add(channel)
    await Promise.all(created.map(({ initialized }) => initialized))
    for (const channel of removed) {
      channel.stop()
      this.#leaving.delete(channel)
    }
  }

  /** Whether a source has ended or is recorded makes no difference to a channel. */
  #toComparable({ plan, source, elements }: ChannelSpec): unknown {
    return {
      plan,
      source: { ...source, ended: false, recording: undefined },
      elements: elements.map(element => this.#options.toComparableElement(element, plan.source)),
    }
  }
}

function toChannelSpecs({ channels, sources, pipelines }: Plan): ChannelSpec[] {
  return channels.flatMap(plan => {
    const source = sources.find(({ id }) => id === plan.source)
    const pipeline = pipelines.find(({ id }) => id === plan.pipeline)
    return source && pipeline ? { plan, source, elements: pipeline.elements } : []
  })
}
