import { dirname } from 'node:path'
import type { ViewSpec } from '@eyrie/contract/view'
import type { ElementInfer, Inference, Log, PictureSize } from '@eyrie/element'
import { createStreamClock } from '@eyrie/element/clock'
import { createElementMetrics, type MetricValues } from '@eyrie/element/metrics'
import { parseSetup } from '@eyrie/element/parse-setup'
import type { RingLocation } from '../frames/ring-reader.ts'
import type { KnownElement } from './known-plugin.ts'
import { createMeasuredElement } from './measured-element.ts'
import type { CropModels } from './models/crop-models.ts'
import { createElementModels, type ElementModels } from './models/element-models.ts'
import type { HostedElement } from './models/hosted-element.ts'
import { decodeResult } from './protocol/infer-call.ts'
import { loadElement } from './protocol/load-element.ts'
import type { ProcessUsage } from './sandbox/limits/process-usage.ts'
import type { Sandboxes } from './sandbox/sandboxes.ts'
import { openElementThread } from './thread/thread-element.ts'

/** What a channel knows when it opens an element (step) of its pipeline. */
export interface OpenContext {
  /** Picture size that an earlier element of the pipeline has requested. */
  size: PictureSize | undefined
  /**
   * Returns the frame ring (pictures in shared memory) of a view; undefined until the media
   * service has created it.
   */
  findRing(view: ViewSpec): RingLocation | undefined
}

export interface OpenRequest extends OpenContext {
  /**
   * The name under which the element stores its files, different for each element of a pipeline. By
   * default, the name of the element.
   */
  label?: string
  args: unknown
  config: unknown
  /** Id of the channel, and of the source that it analyses. */
  channel: number
  source: number
  /** Runs the elements of uploaded plugins. */
  sandboxes: Sandboxes
  /**
   * Whether the element runs in shadow: its results are only compared. For uploaded plugins only.
   */
  isShadow?: boolean
  /**
   * Runs models on whole frames. Passed only to elements whose manifest declares that
   * they need inference.
   */
  inference: Inference
  /** Opens the models that a manifest declares. They run on regions of frames. */
  cropModels: CropModels
  /** Receives the CPU time of a frame in ms. */
  onCost(ms: number): void
  /** Receives what the process of an uploaded plugin uses. */
  onUsage?(usage: ProcessUsage): void
  /** Receives all metrics of the element after some have changed. */
  onMetrics(metrics: MetricValues): void
  log: Log
}

/**
 * Opens an element in the host of its plugin: on the main thread, in a thread, or in a process.
 * Throws an `Error` if `args` or `config` is invalid, or if the element cannot be opened.
 */
export async function openElement(
  known: KnownElement,
  request: OpenRequest,
): Promise<HostedElement> {
  const models = createElementModels({
    declared: known.manifest.capabilities?.inference,
    cropModels: request.cropModels,
    folder: dirname(known.entry),
  })
  try {
    // For an uploaded plugin, the sandboxes load the models when they have verified the
    // files of the plugin.
    if (known.host !== 'process') await models.load()
    return models.host(await openInHost(known, request, models))
  } catch (error) {
    models.close()
    throw error
  }
}

async function openInHost(
  known: KnownElement,
  request: OpenRequest,
  models: ElementModels,
): Promise<HostedElement> {
  const { entry, manifest, host, plugin } = known
  const { findRing, onCost, onMetrics, log } = request
  const setup = createSetup(known, request)
  if (host === 'inline') {
    assertNotShadow(request)
    return openInline(known, setup, request, models)
  }

  const remote = {
    source: { entry, name: manifest.name, setup },
    needsPixels: manifest.needs.includes('pixels'),
    findRing,
    onCost,
    onMetrics,
    infer: models.infer,
    log,
  }
  if (host === 'thread') {
    assertNotShadow(request)
    return openElementThread(remote)
  }
  return request.sandboxes.open({
    ...remote,
    plugin: { plugin: plugin.name, version: plugin.version, channel: request.channel },
    ...(request.label !== undefined && { label: request.label }),
    capabilities: manifest.capabilities,
    prepare: models.load,
    ...(request.isShadow && { isShadow: true }),
    ...(request.onUsage && { onUsage: request.onUsage }),
  })
}

/**
 * Throws an `Error` for an element in shadow: code in the engine itself could have effects, even if
 * its results are ignored.
 */
function assertNotShadow({ isShadow }: OpenRequest): void {
  if (isShadow) throw new Error('only uploaded versions run in shadow')
}

/** Returns the part of an element's context that does not depend on its host. */
function createSetup(known: KnownElement, { args, config, source, size }: OpenRequest) {
  return {
    args: assertValid('args', known.checkArgs(args ?? {})),
    config: config === undefined ? undefined : assertValid('config', known.checkConfig(config)),
    source: { id: source },
    size,
  }
}

/** Returns the checked value, which is completed with the defaults of the schema. */
function assertValid(
  field: 'args' | 'config',
  checked: ReturnType<KnownElement['checkArgs']>,
): unknown {
  const { value, problem } = checked
  if (problem) throw new Error(`/${field}${problem.pointer} ${problem.message}`)
  return value
}

/** Opens an element on the main thread of the engine. */
async function openInline(
  { entry, manifest }: KnownElement,
  setup: ReturnType<typeof createSetup>,
  { inference, onCost, onMetrics, log }: OpenRequest,
  models: ElementModels,
): Promise<HostedElement> {
  const definition = await loadElement(entry, manifest.name)
  const { clock, advance } = createStreamClock()
  const { metrics, collect } = createElementMetrics()
  /** Number of the last frame for which `process` was called. */
  let frameNumber: number | undefined
  const infer: ElementInfer = async (model, { frame, ...options } = {}) => {
    const n = frame ? frame.n : frameNumber
    return decodeResult(await models.infer({ method: 'infer', model, n, ...options }))
  }

  const element = await definition.open({
    ...setup,
    ...parseSetup(definition, setup),
    inference: manifest.needs.includes('inference') ? inference : undefined,
    infer,
    clock,
    metrics,
    log,
  })
  const measured = createMeasuredElement(element, onCost)
  return {
    ...measured,
    // Changes if its model is replaced by one that reads other pictures.
    get view() {
      return measured.view
    },
    process(frame, picture) {
      advance(frame)
      frameNumber = frame.n
      const changedMetrics = collect()
      if (changedMetrics) onMetrics(changedMetrics)
      return measured.process(frame, picture)
    },
  }
}
