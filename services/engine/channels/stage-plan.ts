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

/** The plan of a stage. Each stage of a channel runs one element (step) of its pipeline. */
export interface StagePlan {
  /** Name of the element. */
  name: string
  /**
   * Whether the element can process several frames at the same time, because it has no
   * state between frames.
   */
  isStateless: boolean
  /**
   * Opens the element. Rejects with the reason if that fails. `onCost` is called with the CPU time
   * of each measured frame in ms.
   */
  open(context: OpenContext, onCost?: (ms: number) => void): Promise<HostedElement>
  /**
   * Called with the reason of each failure. Called with undefined when the element processes frames
   * again, or has ended.
   */
  onHealth?(failure: string | undefined): void
  /**
   * Defined for elements under development: new code continues with the state of the
   * code that it replaces.
   */
  development?: DevelopedElement | undefined
}

/** The elements of a pipeline before they are opened, and how a channel runs them. */
export interface PlannedElements {
  /** The elements of the pipeline, in order. */
  stages: readonly StagePlan[]
  /** Maximum number of frames that are analysed at the same time. */
  window: number
}

export interface DevelopedElement {
  /** Name and version of the plugin. */
  version: string
  onStateReplaced(replacement: StateReplacement): void
}

/** What became of the state of an element whose code was replaced. */
export interface StateReplacement {
  /**
   * Why the new code has begun with its initial state; undefined if it continues with the
   * state of the old code.
   */
  problem: string | undefined
  /**
   * Whether later changes of the state are lost, because the old code has failed. The new code then
   * continues with the state with which the old code had begun.
   */
  isOutdated: boolean
}

/** What the elements of a channel need from the engine. */
export interface StageContext {
  /** Id of the channel, and of the source that it analyses. */
  channel: number
  source: number
  sandboxes: Sandboxes
  elements: KnownElements
  createInference(findRing: OpenContext['findRing']): {
    inference: Inference
    cropModels: CropModels
  }
  /** Reports the CPU time that an element used for a frame, without inference, in ms. */
  onCost(element: string, version: string, ms: number): void
  /**
   * Receives all metrics of an element after some have changed. The second element of the
   * same name is `<name> 2`.
   */
  onMetrics(element: string, metrics: MetricValues): void
  onHealth(health: ElementHealth): void
  log: Log
}

/**
 * Plans the stages of a channel. An unknown element is planned, too: its failure is
 * reported when it is opened.
 */
export function planStages(
  elements: readonly PipelineElement[],
  context: StageContext,
): StagePlan[] {
  const names = elements.map(element => parseElementReference(element.name).name)
  return elements.map((element, index) => planStage(element, toUniqueLabel(names, index), context))
}

/**
 * Returns the name of an element, with a number if earlier elements of the pipeline have the same
 * name.
 */
function toUniqueLabel(names: readonly string[], index: number): string {
  const name = names[index]!
  const number = names.slice(0, index + 1).filter(earlier => earlier === name).length
  return number === 1 ? name : `${name} ${number}`
}

function planStage(element: PipelineElement, label: string, context: StageContext): StagePlan {
  // The pipeline may pin a version. Results, metrics and costs refer to the element by its name
  // alone.
  const { name } = parseElementReference(element.name)
  const known = context.elements.get(element.name)
  if (!known) return { name, isStateless: false, open: () => rejectUnknown(element.name) }

  const { plugin, manifest, host } = known
  const { channel } = context
  return {
    name,
    // In a thread or a process of its own, even a stateless element processes one frame at a time.
    isStateless: manifest.stateless === true && host === 'inline',
    open: async (openContext, onCost) => {
      const environment: ElementEnvironment = {
        ...context,
        label,
        onCost: ms => {
          context.onCost(name, plugin.version, ms)
          onCost?.(ms)
        },
        onMetrics: metrics => context.onMetrics(label, metrics),
      }
      return openConfigured(element, known, environment, openContext)
    },
    onHealth: failure =>
      context.onHealth({
        plugin: plugin.name,
        version: plugin.version,
        channel,
        element: name,
        failure,
      }),
    development: describeDevelopment(known, context.log),
  }
}

async function rejectUnknown(reference: string): Promise<never> {
  const { pin } = parseElementReference(reference)
  throw new Error(
    pin === undefined
      ? 'no installed plugin contains this element: install the plugin'
      : `no installed version matches "${pin}": install it, or use another one`,
  )
}

/**
 * Describes how an element under development reports that its code was replaced. Returns
 * undefined for other elements. Only elements in processes can be under development, because only
 * their state can be saved.
 */
function describeDevelopment(
  { plugin: { name, version }, manifest, host }: KnownElement,
  log: Log,
): DevelopedElement | undefined {
  if (host !== 'process' || !isDevelopmentVersion(version)) return undefined
  const fields = { plugin: name, element: manifest.name }
  return {
    version: `${name} ${version}`,
    onStateReplaced({ problem, isOutdated }) {
      if (problem !== undefined) {
        log.warn({ ...fields, reason: problem }, 'state begins anew')
      } else if (isOutdated) {
        log.info(fields, 'kept state of the last upload, because the code has failed since')
      } else {
        log.info(fields, 'kept state')
      }
    },
  }
}

/** The parts of the engine that an open element uses, and the functions to which it reports. */
export type ElementEnvironment = Pick<
  StageContext,
  'channel' | 'source' | 'sandboxes' | 'createInference' | 'log'
> &
  Pick<OpenRequest, 'label' | 'onCost' | 'onUsage' | 'onMetrics' | 'isShadow'>

/**
 * Opens an element with the args and the config of its pipeline. If the config is keyed by source,
 * the element receives only the part for the source of its channel.
 */
export function openConfigured(
  { args, config }: PipelineElement,
  known: KnownElement,
  environment: ElementEnvironment,
  openContext: OpenContext,
): Promise<HostedElement> {
  return openElement(known, {
    ...environment,
    ...environment.createInference(openContext.findRing),
    ...openContext,
    args,
    config:
      config && known.isKeyedBySource ? selectSourceConfig(config, environment.source) : config,
  })
}
