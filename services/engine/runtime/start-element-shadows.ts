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
import type { KnownElement, KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { Sandboxes } from '../plugin-host/sandbox/sandboxes.ts'
import { ShadowTally } from '../plugin-host/shadow/shadow-tally.ts'

/** A version of a plugin that is to run in shadow on a channel. */
export interface ChannelShadow {
  channel: Channel
  plugin: Pick<KnownPlugin, 'name' | 'version' | 'elements'>
  /** The elements of the channel as they are now. */
  current: readonly PipelineElement[]
  /** The same elements, with arguments that are migrated to the version in shadow. */
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
 * Runs the elements of another version of a plugin in shadow: they process the same frames as
 * the active version, but without any effect. Returns a tally, which compares the two versions,
 * for each element of the channel that has both versions. An element whose pipeline pins a
 * version is left out.
 */
export function startElementShadows(
  { channel, plugin, current, next }: ChannelShadow,
  context: ShadowContext,
): ShadowTally[] {
  const log = context.log.child({ channel: channel.plan.id, shadow: plugin.version })
  const tallies: ShadowTally[] = []
  for (const [index, currentElement] of current.entries()) {
    const active = context.elements.get(currentElement.name)
    const isPinned = parseElementReference(currentElement.name).pin !== undefined
    if (active?.plugin.name !== plugin.name || isPinned) continue
    const candidate = plugin.elements.find(({ manifest }) => manifest.name === active.manifest.name)
    if (!candidate) continue

    const tally = createTally(channel.plan.id, active, candidate)
    const environment = createShadowEnvironment(channel.plan, tally, { ...context, log })
    const element = next[index] ?? currentElement
    channel.startShadow(index, {
      plugin: plugin.name,
      open: openContext => openConfigured(element, candidate, environment, openContext),
      tally,
    })
    tallies.push(tally)
  }
  return tallies
}

function createTally(channel: number, active: KnownElement, candidate: KnownElement): ShadowTally {
  return new ShadowTally({
    channel,
    element: candidate.manifest.name,
    budgets: {
      active: active.manifest.capabilities?.budget_ms,
      shadow: candidate.manifest.capabilities?.budget_ms,
    },
  })
}

/**
 * Returns the environment of an element in shadow, which has the lowest priority, and
 * reports only to its tally.
 */
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
      const client: InferenceClient = {
        channel: id,
        pacing: 'realtime',
        priority: () => 0,
        findRing,
      }
      return {
        inference: inference.forChannel(client),
        cropModels: cropInference.forChannel(client),
      }
    },
    isShadow: true,
    onCost: ms => tally.shadow.recordCost(ms),
    onUsage: usage => tally.recordUsage(usage),
    onMetrics: () => {},
    log,
  }
}
