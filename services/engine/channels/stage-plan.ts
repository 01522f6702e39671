import type { PipelineElement } from '@eyrie/contract/pipeline'
import type { Element, Inference, Log } from '@eyrie/element'
import { ownConfig } from '../plan/source-keyed-config.ts'
import type { KnownElement } from '../plugin-host/known-plugin.ts'
import { type Opening, openElement } from '../plugin-host/open-element.ts'

/** How one element of a pipeline is opened for a channel. */
export interface StagePlan {
  name: string
  /** Keeps nothing from frame to frame, so that several may be inside at the same time. */
  stateless: boolean
  open(opening: Opening): Promise<Element>
}

export interface StageContext {
  source: number
  elements: ReadonlyMap<string, KnownElement>
  inferenceFor(ringOf: Opening['ringOf']): Inference
  /** CPU time in ms that an element has taken for a frame, its inference aside. */
  onCost(element: string, version: string, ms: number): void
  log: Log
}

/** How a channel of `source` opens the elements of its pipeline. What is wrong with one shows when it is opened. */
export function planStages(elements: readonly PipelineElement[], context: StageContext): StagePlan[] {
  return elements.map(({ name, args, config }) => {
    const known = context.elements.get(name)
    return {
      name,
      // A thread takes one frame at a time.
      stateless: known?.manifest.stateless === true && known.inline,
      open: async opening => {
        if (!known) throw new Error('no plugin has this element: install one that does')
        return openElement(known, {
          ...opening,
          args,
          config: config && known.keysAreSources ? ownConfig(config, context.source) : config,
          source: context.source,
          inference: context.inferenceFor(opening.ringOf),
          onCost: ms => context.onCost(name, known.plugin.version, ms),
          log: context.log,
        })
      },
    }
  })
}
