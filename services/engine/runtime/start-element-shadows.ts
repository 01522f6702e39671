import { parseElementReference } from '@eyrie/contract/element-reference'
import type { PipelineElement } from '@eyrie/contract/pipeline'
import type { Log } from '@eyrie/kit'
import type { Channel } from '../channels/channel.ts'
import { type ElementEnvironment, openConfigured } from '../channels/stage-plan.ts'
import type { CropInference } from '../inference/crop-inference.ts'
import type { InferencePool } from '../inference/inference.ts'
import type { InferenceClient } from '../inference/inference-client.ts'
import type { ChannelPlan } from '../plan/plan.ts'
import type { KnownElements } from '../plugin-host/known-elements.ts'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { Sandboxes } from '../plugin-host/sandbox/sandboxes.ts'
import { ShadowTally } from '../plugin-host/shadow/shadow-tally.ts'

/** A version of a plugin that runs in shadow on a channel. */
export interface ChannelShadow {
  channel: Channel
  plugin: Pick<KnownPlugin, 'name' | 'version' | 'elements'>
  /** The elements of the channel as they are now. */
  current: readonly PipelineElement[]
  /** The same elements with the arguments that they have with that version. */
  next: readonly PipelineElement[]
}

export interface ShadowContext {
  elements: Pick<KnownElements, 'get'>
  inference: Pick<InferencePool, 'forChannel'>
  cropInference: Pick<CropInference, 'forChannel'>
  sandboxes: Sandboxes
  log: Log
}

/**
 * Runs the elements of another version of a plugin in shadow: on the frames that the active version processes, without
 * any effect. Returns a comparison for each element of the channel that uses the active version.
 */
export function startElementShadows(
  { channel, plugin, current, next }: ChannelShadow,
  context: ShadowContext,
): ShadowTally[] {
  const tallies: ShadowTally[] = []
  for (const [index, { name }] of current.entries()) {
    const active = context.elements.get(name)
    const isPinned = parseElementReference(name).pin !== undefined
    if (active?.plugin.name !== plugin.name || isPinned) continue
    const candidate = plugin.elements.find(({ manifest }) => manifest.name === active.manifest.name)
    if (!candidate) continue

    const tally = new ShadowTally({
      channel: channel.plan.id,
      element: candidate.manifest.name,
      budgets: {
        active: active.manifest.capabilities?.budget_ms,
        shadow: candidate.manifest.capabilities?.budget_ms,
      },
    })
    const environment = createShadowEnvironment(channel.plan, tally, {
      ...context,
      log: context.log.child({ channel: channel.plan.id, shadow: plugin.version }),
    })
    const element = next[index] ?? current[index]!
    channel.startShadow(index, {
      plugin: plugin.name,
      open: openContext => openConfigured(element, candidate, environment, openContext),
      tally,
    })
    tallies.push(tally)
  }
  return tallies
}

/** Returns what an element in shadow uses. It has the lowest priority, and reports only to its tally. */
function createShadowEnvironment(
  { id, source }: ChannelPlan,
  tally: ShadowTally,
  { inference, cropInference, sandboxes, log }: ShadowContext,
): ElementEnvironment {
  return {
    channel: id,
    source,
    sandboxes,
    createInference: findRing => {
      const client: InferenceClient = { channel: id, pacing: 'realtime', priority: () => 0, findRing }
      return { inference: inference.forChannel(client), cropModels: cropInference.forChannel(client) }
    },
    isShadow: true,
    onCost: ms => tally.shadow.recordCost(ms),
    onUsage: usage => tally.recordUsage(usage),
    onMetrics: () => {},
    log,
  }
}
