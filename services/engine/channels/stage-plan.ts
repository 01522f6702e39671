import type { PipelineElement } from '@eyrie/contract/pipeline'
import type { Inference, Log } from '@eyrie/element'
import type { MetricValues } from '@eyrie/element/metrics'
import { selectSourceConfig } from '../plan/source-keyed-config.ts'
import type { KnownElement } from '../plugin-host/known-plugin.ts'
import type { CropModels } from '../plugin-host/models/crop-models.ts'
import type { HostedElement } from '../plugin-host/models/hosted-element.ts'
import { type OpenContext, openElement } from '../plugin-host/open-element.ts'
import type { Sandboxes } from '../plugin-host/sandbox/sandboxes.ts'

/** The plan of one stage of a channel: an element of its pipeline, and how to open the element. */
export interface StagePlan {
  name: string
  /** Whether the element can process several frames at the same time, because it has no state between frames. */
  isStateless: boolean
  open(context: OpenContext): Promise<HostedElement>
}

/** What the elements of a channel need from the engine. */
export interface StageContext {
  /** Id of the channel, and of the source that it analyses. */
  channel: number
  source: number
  sandboxes: Sandboxes
  elements: ReadonlyMap<string, KnownElement>
  createInference(findRing: OpenContext['findRing']): { inference: Inference; cropModels: CropModels }
  /** Reports the CPU time that an element used for a frame, without inference, in ms. */
  onCost(element: string, version: string, ms: number): void
  /** Receives all metrics of an element after some have changed. A second element of one name is called `<name> 2`. */
  onMetrics(element: string, metrics: MetricValues): void
  log: Log
}

/** Plans the stages of a channel. An invalid element is planned too: its failure is reported when it is opened. */
export function planStages(elements: readonly PipelineElement[], context: StageContext): StagePlan[] {
  return elements.map((element, index) => {
    const known = context.elements.get(element.name)
    const label = toUniqueLabel(elements, index)
    return {
      name: element.name,
      // Threads and processes of elements process one frame at a time.
      isStateless: known?.manifest.stateless === true && known.host === 'inline',
      open: async opening => {
        if (!known) throw new Error('no installed plugin contains this element: install the plugin')
        return openPlanned(element, label, known, context, opening)
      },
    }
  })
}

/** The name of an element, with its number if an earlier element of the pipeline has the same name. */
function toUniqueLabel(elements: readonly PipelineElement[], index: number): string {
  const { name } = elements[index]!
  const number = elements.slice(0, index + 1).filter(element => element.name === name).length
  return number === 1 ? name : `${name} ${number}`
}

function openPlanned(
  { name, args, config }: PipelineElement,
  label: string,
  known: KnownElement,
  context: StageContext,
  opening: OpenContext,
): Promise<HostedElement> {
  const { channel, source, sandboxes } = context
  return openElement(known, {
    ...opening,
    args,
    config: config && known.isKeyedBySource ? selectSourceConfig(config, source) : config,
    channel,
    source,
    sandboxes,
    ...context.createInference(opening.findRing),
    onCost: ms => context.onCost(name, known.plugin.version, ms),
    onMetrics: metrics => context.onMetrics(label, metrics),
    log: context.log,
  })
}
