import { isDeepStrictEqual } from 'node:util'
import type { PipelineElement } from '@eyrie/contract/pipeline'
import type { Channel } from '../channels/channel.ts'
import type { ChannelPlan, Plan, SourcePlan } from '../plan/plan.ts'

/**
 * The parts of a plan from which a channel is created. A channel runs one pipeline on one source.
 */
export interface ChannelSpec {
  plan: ChannelPlan
  source: SourcePlan
  elements: readonly PipelineElement[]
}

export interface RunningChannelsOptions {
  toComparableElement(element: PipelineElement, source: number): ComparableElement
  create(spec: ChannelSpec): Channel
  /** Opens the elements of `spec`. When they are open, the channel continues with them. */
  replaceElements(channel: Channel, spec: ChannelSpec): void
}

/** The parts of an element that are compared when a plan is applied. */
export interface ComparableElement {
  name: string
  /** The arguments, and the part of the configuration that affects the source of the channel. */
  settings: unknown
  /** Identifies the code, such as by the version of the plugin. */
  code: unknown
}

interface RunningChannel {
  channel: Channel
  comparableSpec: ComparableSpec
}

/**
 * The parts of a spec that are compared when a plan is applied:
 * - If only the code of elements has changed, the channel continues with new elements and
 *   loses no frame.
 * - Any other change replaces the channel.
 */
interface ComparableSpec {
  /** The channel and its source. */
  input: unknown
  elements: readonly ComparableElement[]
}

/** Starts and stops channels so that they match the plan. */
export class RunningChannels {
  readonly #options: RunningChannelsOptions
  /** By id of the channel. */
  #running = new Map<number, RunningChannel>()
  /** Removed and replaced channels that have not been stopped yet. */
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
   * Creates, replaces and removes channels to match the plan. Replaced channels stop their
   * analysis immediately. Replaced and removed channels are stopped completely when the new
   * channels are initialized.
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
      if (existing && canContinue(existing.comparableSpec, comparableSpec)) {
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

  /**
   * Returns the compared parts. Whether a source has ended or is recorded does not
   * affect its channels.
   */
  #toComparableSpec({ plan, source, elements }: ChannelSpec): ComparableSpec {
    const { toComparableElement } = this.#options
    return {
      input: { plan, source: { ...source, ended: false, recording: undefined } },
      elements: elements.map(element => toComparableElement(element, plan.source)),
    }
  }
}

/**
 * Whether the channel can continue with new elements: each is unchanged or has new code, which may
 * have other settings.
 */
function canContinue(current: ComparableSpec, next: ComparableSpec): boolean {
  if (!isDeepStrictEqual(current.input, next.input)) return false
  if (current.elements.length !== next.elements.length) return false
  return next.elements.every((element, index) => {
    const previous = current.elements[index]!
    const hasNewCode = !isDeepStrictEqual(previous.code, element.code)
    return previous.name === element.name && (hasNewCode || isDeepStrictEqual(previous, element))
  })
}

function toChannelSpecs({ channels, sources, pipelines }: Plan): ChannelSpec[] {
  const specs: ChannelSpec[] = []
  for (const plan of channels) {
    const source = sources.find(({ id }) => id === plan.source)
    const pipeline = pipelines.find(({ id }) => id === plan.pipeline)
    if (source && pipeline) specs.push({ plan, source, elements: pipeline.elements })
  }
  return specs
}
