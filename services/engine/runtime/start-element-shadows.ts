import { parseElementReference } from '@eyrie/contract/element-reference'
import type { PipelineElement } from '@eyrie/contract/pipeline'
import type { Log } from '@eyrie/kit'
import type { Channel } from '../channels/channel.ts'
import { openShadow } from '../channels/stage-plan.ts'
import type { CropInference } from '../inference/crop-inference.ts'
import type { InferencePool } from '../inference/inference.ts'
import type { KnownElements } from '../plugin-host/known-elements.ts'
import type { KnownPlugin } from '../plugin-host/known-plugin.ts'
import type { OpenContext } from '../plugin-host/open-element.ts'
import type { Sandboxes } from '../plugin-host/sandbox/sandboxes.ts'
import { ShadowTally } from '../plugin-host/shadow/shadow-tally.ts'

/** A version of a plugin that runs in shadow on a channel. */
export interface ChannelShadow {
  channel: Channel
  plugin: Pick<KnownPlugin, 'name' | 'version' | 'elements'>
  /** The elements of the channel, as they are and as they are with that version. */
  current: readonly PipelineElement[]
  next: readonly PipelineElement[]
}

export interface ShadowContext {
  elements: Pick<KnownElements, 'get'>
  inference: Pick<InferencePool, 'forChannel'>
  cropInference: Pick<CropInference, 'forChannel'>
  sandboxes: Sandboxes
  log: Log
}

/** Starts the elements of the version that the channel runs in the active one. Returns their comparisons. */
export function startElementShadows(
  { channel, plugin, current, next }: ChannelShadow,
  { elements, inference, cropInference, sandboxes, log }: ShadowContext,
): ShadowTally[] {
  const { id, source } = channel.plan
  return current.flatMap(({ name }, index) => {
    const known = elements.get(name)
    const isFollowing = known?.plugin.name === plugin.name && parseElementReference(name).pin === undefined
    const target = plugin.elements.find(({ manifest }) => manifest.name === known?.manifest.name)
    if (!isFollowing || !target) return []

    const budgets = {
      active: known.manifest.capabilities?.budget_ms,
      shadow: target.manifest.capabilities?.budget_ms,
    }
    const tally = new ShadowTally({ channel: id, element: target.manifest.name, budgets })
    const context = {
      channel: id,
      source,
      sandboxes,
      createInference: (findRing: OpenContext['findRing']) => {
        const client = {
          channel: id,
          pacing: 'realtime',
          priority: () => 0,
          onYield: () => {},
          findRing,
        } as const
        return { inference: inference.forChannel(client), cropModels: cropInference.forChannel(client) }
      },
      log: log.child({ channel: id, shadow: plugin.version }),
    }
    const element = next[index] ?? current[index]!
    channel.startShadow(index, {
      plugin: plugin.name,
      open: opening => openShadow(element, target, context, tally, opening),
      tally,
    })
    return [tally]
  })
}
