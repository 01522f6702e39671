import type { PipelineElement } from '@eyrie/contract/pipeline'
import type { Element, Inference, Log } from '@eyrie/element'
import { selectSourceConfig } from '../plan/source-keyed-config.ts'
import type { KnownElement } from '../plugin-host/known-plugin.ts'
import { type OpenContext, openElement } from '../plugin-host/open-element.ts'

/** How to open one element of a pipeline for a channel. */
export interface StagePlan {
  name: string
  /** The element keeps no state between frames: several frames may be inside at the same time. */
  isStateless: boolean
  open(context: OpenContext): Promise<Element>
}

export interface StageContext {
  source: number
  elements: ReadonlyMap<string, KnownElement>
  createInference(findRing: OpenContext['findRing']): Inference
  /** CPU time that an element used for a frame, without inference, in ms. */
  onCost(element: string, version: string, ms: number): void
  log: Log
}

/** Plans the stages of a channel. Errors in an element's configuration surface when it is opened. */
export function planStages(elements: readonly PipelineElement[], context: StageContext): StagePlan[] {
  return elements.map(({ name, args, config }) => {
    const known = context.elements.get(name)
    return {
      name,
      // A thread processes one frame at a time.
      isStateless: known?.manifest.stateless === true && known.isInline,
      open: async opening => {
        if (!known) throw new Error('no plugin has this element: install one that does')
        return openElement(known, {
          ...opening,
          args,
          config: config && known.isKeyedBySource ? selectSourceConfig(config, context.source) : config,
          source: context.source,
          inference: context.createInference(opening.findRing),
          onCost: ms => context.onCost(name, known.plugin.version, ms),
          log: context.log,
        })
      },
    }
  })
}
