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

/** Which version of a plugin runs in shadow, and on which channel. */
export interface ChannelShadow {
  channel: Channel
  plugin: Pick<KnownPlugin, 'name' | 'version' | 'elements'>
  /** The elements of the channel as they are now. */
  current: readonly PipelineElement[]
  /** These elements with arguments for the version in shadow, unless the pipeline is edited. */
  next: readonly PipelineElement[]
}

/** The components of the engine that elements in shadow use. */
export interface ShadowContext {
  elements: Pick<KnownElements, 'get'>
  inference: Pick<InferencePool, 'forChannel'>
  cropInference: Pick<CropInference, 'forChannel'>
  sandboxes: Sandboxes
  log: Log
}

/**
 * Runs the elements of another version of a plugin in shadow: they process the same frames as the
 * active version, but have no effect. Elements that only one of the versions has are left out, and
 * so are elements whose pipeline pins a version. Returns a tally for each element in shadow, which
 * compares it with the active one.
 */
export function startElementShadows(
  { channel, plugin, current, next }: ChannelShadow,
  context: ShadowContext,
): ShadowTally[] {
  const log = context.log.child({ channel: channel.plan.id, shadow: plugin.version })
  const tallies: ShadowTally[] = []
  for (const [index, currentElement] of current.entries()) {
    const isPinned = parseElementReference(currentElement.name).pin !== undefined
    if (isPinned) continue
    const active = context.elements.get(currentElement.name)
    if (active?.plugin.name !== plugin.name) continue
    const shadow = plugin.elements.find(({ manifest }) => manifest.name === active.manifest.name)
    if (!shadow) continue

    const tally = createTally(channel.plan.id, active, shadow)
    const environment = createShadowEnvironment(channel.plan, tally, { ...context, log })
    // A pipeline that is being edited may have fewer elements.
    const element = next[index] ?? currentElement
    channel.startShadow(index, {
      plugin: plugin.name,
      open: openContext => openConfigured(element, shadow, environment, openContext),
      tally,
    })
    tallies.push(tally)
  }
  return tallies
}

function createTally(channelId: number, active: KnownElement, shadow: KnownElement): ShadowTally {
  return new ShadowTally({
    channel: channelId,
    element: shadow.manifest.name,
    budgets: {
      active: active.manifest.capabilities?.budget_ms,
      shadow: shadow.manifest.capabilities?.budget_ms,
    },
  })
}

/**
 * Returns the environment of an element in shadow, which has the lowest priority. It reports only
 * to its tally, so its metrics are discarded.
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
