import { isDeepStrictEqual } from 'node:util'
import type { PipelineElement } from '@eyrie/contract/pipeline'
import type { Channel } from '../channels/channel.ts'
import type { ChannelPlan, Plan, SourcePlan } from '../plan/plan.ts'

/** The parts of a plan from which a channel (one pipeline on one source) is created. */
export interface ChannelSpec {
  plan: ChannelPlan
  source: SourcePlan
  elements: readonly PipelineElement[]
}

export interface RunningChannelsOptions {
  /** Returns the part of an element's configuration that affects `source`. Other changes do not replace the channel. */
  toComparableElement(element: PipelineElement, source: number): unknown
  /** Returns what identifies the code that an element of a pipeline runs. */
  toComparableCode(element: PipelineElement): unknown
  create(spec: ChannelSpec): Channel
  /** Continues a channel with the elements of `spec`, when they are open. */
  replaceElements(channel: Channel, spec: ChannelSpec): void
}

interface RunningChannel {
  channel: Channel
  comparableSpec: ComparableSpec
}

interface ComparableSpec {
  /** The channel is replaced when this value changes. */
  input: unknown
  /** The channel is replaced when this value changes, unless the code changes. */
  elements: unknown
  /** The elements of the channel are replaced, without losing a frame, when this value changes. */
  code: unknown
}

/** Starts and stops channels so that they match the plan. */
export class RunningChannels {
  readonly #options: RunningChannelsOptions
  /** By id of the channel. */
  #running = new Map<number, RunningChannel>()
  /** Removed or replaced channels that stop when the new channels are initialized. */
  readonly #stopping = new Set<Channel>()

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
   * Creates, replaces and removes channels to match the plan. Replaced channels stop their analysis immediately.
   * Replaced and removed channels are stopped completely when the new channels are initialized. Channels whose code changes
   * continue, with new elements.
   */
  apply(plan: Plan): void {
    const obsolete = this.#running
    const created: Channel[] = []
    this.#running = new Map()
    for (const spec of toChannelSpecs(plan)) {
      const { id } = spec.plan
      const existing = obsolete.get(id)
      const comparableSpec = this.#toComparableSpec(spec)
      if (existing && isDeepStrictEqual(existing.comparableSpec, comparableSpec)) {
        obsolete.delete(id)
        this.#running.set(id, existing)
        continue
      }
      if (existing && hasOtherCode(existing.comparableSpec, comparableSpec)) {
        obsolete.delete(id)
        this.#options.replaceElements(existing.channel, spec)
        this.#running.set(id, { ...existing, comparableSpec })
        continue
      }

      existing?.channel.stopAnalysis()
      const channel = this.#options.create(spec)
      created.push(channel)
      this.#running.set(id, { channel, comparableSpec })
    }

    const removed = [...obsolete.values()].map(({ channel }) => channel)
    void this.#stopAfter(created, removed)
  }

  stop(): void {
    for (const channel of [...this.all(), ...this.#stopping]) channel.stop()
  }

  async #stopAfter(created: readonly Channel[], removed: readonly Channel[]): Promise<void> {
    for (const channel of removed) this.#stopping.add(channel)
    await Promise.all(created.map(({ initialized }) => initialized))
    for (const channel of removed) {
      channel.stop()
      this.#stopping.delete(channel)
    }
  }

  /** Channels do not depend on whether their source has ended or is recorded. */
  #toComparableSpec({ plan, source, elements }: ChannelSpec): ComparableSpec {
    const { toComparableElement, toComparableCode } = this.#options
    return {
      input: { plan, source: { ...source, ended: false, recording: undefined } },
      elements: elements.map(element => toComparableElement(element, plan.source)),
      code: elements.map(toComparableCode),
    }
  }
}

/** Whether other code analyses the same input, perhaps with other arguments. */
const hasOtherCode = (current: ComparableSpec, next: ComparableSpec) =>
  isDeepStrictEqual(current.input, next.input) && !isDeepStrictEqual(current.code, next.code)

function toChannelSpecs({ channels, sources, pipelines }: Plan): ChannelSpec[] {
  const specs: ChannelSpec[] = []
  for (const plan of channels) {
    const source = sources.find(({ id }) => id === plan.source)
    const pipeline = pipelines.find(({ id }) => id === plan.pipeline)
    if (source && pipeline) specs.push({ plan, source, elements: pipeline.elements })
  }
  return specs
}
