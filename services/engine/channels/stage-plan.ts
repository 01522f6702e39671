import { parseElementReference } from '@eyrie/contract/element-reference'
import type { PipelineElement } from '@eyrie/contract/pipeline'
import { isDevelopmentVersion } from '@eyrie/contract/plugin'
import type { Inference, Log } from '@eyrie/element'
import type { MetricValues } from '@eyrie/element/metrics'
import { selectSourceConfig } from '../plan/source-keyed-config.ts'
import type { ElementHealth } from '../plugin-host/element-health.ts'
import type { KnownElements } from '../plugin-host/known-elements.ts'
import type { KnownElement } from '../plugin-host/known-plugin.ts'
import type { CropModels } from '../plugin-host/models/crop-models.ts'
import type { HostedElement } from '../plugin-host/models/hosted-element.ts'
import { type OpenContext, type OpenRequest, openElement } from '../plugin-host/open-element.ts'
import type { Sandboxes } from '../plugin-host/sandbox/sandboxes.ts'
import type { ShadowTally } from '../plugin-host/shadow/shadow-tally.ts'

/** The plan of one stage of a channel: an element of its pipeline, and how to open the element. */
export interface StagePlan {
  name: string
  /** Whether the element can process several frames at the same time, because it has no state between frames. */
  isStateless: boolean
  open(context: OpenContext): Promise<HostedElement>
  /** Called with the CPU time of a frame in ms, in addition to the listener of the channel. */
  onCost?: ((ms: number) => void) | undefined
  /** Called with the reason of each failure, and with undefined when the element processes frames again, or has ended. */
  onHealth?(failure: string | undefined): void
  /** Defined for elements under development: new code continues with the state of the code that it replaces. */
  development?: DevelopedElement | undefined
}

export interface DevelopedElement {
  /** Name and version of the plugin. */
  version: string
  onStateReplaced(replacement: StateReplacement): void
}

/** What became of the state of an element whose code was replaced. */
export interface StateReplacement {
  /** Why the new code has begun with its initial state; undefined if it has not. */
  problem: string | undefined
  /** Whether the state is that of the last replacement, because the code has failed since. */
  isOutdated: boolean
}

/** What the elements of a channel need from the engine. */
export interface StageContext {
  /** Id of the channel, and of the source that it analyses. */
  channel: number
  source: number
  sandboxes: Sandboxes
  elements: KnownElements
  createInference(findRing: OpenContext['findRing']): { inference: Inference; cropModels: CropModels }
  /** Reports the CPU time that an element used for a frame, without inference, in ms. */
  onCost(element: string, version: string, ms: number): void
  /** Receives all metrics of an element after some have changed. A second element of one name is called `<name> 2`. */
  onMetrics(element: string, metrics: MetricValues): void
  onHealth(health: ElementHealth): void
  log: Log
}

/** Plans the stages of a channel. An invalid element is planned too: its failure is reported when it is opened. */
export function planStages(elements: readonly PipelineElement[], context: StageContext): StagePlan[] {
  const names = elements.map(element => parseElementReference(element.name).name)
  return elements.map((element, index) => {
    const { name, pin } = parseElementReference(element.name)
    const known = context.elements.get(element.name)
    const label = toUniqueLabel(names, index)
    const plan: StagePlan = {
      // Without the version that is pinned: results, metrics and costs keep their names.
      name,
      // Threads and processes of elements process one frame at a time.
      isStateless: known?.manifest.stateless === true && known.host === 'inline',
      open: async opening => {
        if (!known && pin !== undefined)
          throw new Error(`no installed version matches "${pin}": install it, or use another one`)
        if (!known) throw new Error('no installed plugin contains this element: install the plugin')
        const onCost = (ms: number) => {
          context.onCost(name, known.plugin.version, ms)
          plan.onCost?.(ms)
        }
        const onMetrics = (metrics: MetricValues) => context.onMetrics(label, metrics)
        return openPlanned(element, known, { ...context, onCost, onMetrics }, opening)
      },
      onHealth: failure => {
        if (known) {
          const { name: plugin, version } = known.plugin
          context.onHealth({ plugin, version, channel: context.channel, element: name, failure })
        }
      },
      development: known && describeDevelopment(known, context.log),
    }
    return plan
  })
}

function describeDevelopment(
  { plugin: { name, version }, manifest, host }: KnownElement,
  log: Log,
): DevelopedElement | undefined {
  if (host !== 'process' || !isDevelopmentVersion(version)) return undefined
  const fields = { plugin: name, element: manifest.name }
  return {
    version: `${name} ${version}`,
    onStateReplaced({ problem, isOutdated }) {
      if (problem !== undefined) log.warn({ ...fields, reason: problem }, 'state begins anew')
      else if (isOutdated)
        log.info(fields, 'kept state of the last upload, because the code has failed since')
      else log.info(fields, 'kept state')
    },
  }
}

/** The name of an element, with its number if an earlier element of the pipeline has the same name. */
function toUniqueLabel(names: readonly string[], index: number): string {
  const name = names[index]!
  const number = names.slice(0, index + 1).filter(each => each === name).length
  return number === 1 ? name : `${name} ${number}`
}

/** Opens another version of an element, which has no effect on anything. What it uses is recorded in the tally. */
export function openShadow(
  element: PipelineElement,
  known: KnownElement,
  context: Pick<StageContext, 'channel' | 'source' | 'sandboxes' | 'createInference' | 'log'>,
  tally: ShadowTally,
  opening: OpenContext,
): Promise<HostedElement> {
  const shadowContext: OpenPlannedContext = {
    ...context,
    isShadow: true,
    onCost: ms => tally.shadow.recordCost(ms),
    onUsage: usage => tally.recordUsage(usage),
    onMetrics: () => {},
  }
  return openPlanned(element, known, shadowContext, opening)
}

interface OpenPlannedContext
  extends Pick<StageContext, 'channel' | 'source' | 'sandboxes' | 'createInference' | 'log'>,
    Pick<OpenRequest, 'onCost' | 'onUsage' | 'onMetrics' | 'isShadow'> {}

function openPlanned(
  { args, config }: PipelineElement,
  known: KnownElement,
  context: OpenPlannedContext,
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
    onCost: context.onCost,
    ...(context.onUsage && { onUsage: context.onUsage }),
    onMetrics: context.onMetrics,
    ...(context.isShadow && { isShadow: true }),
    log: context.log,
  })
}
