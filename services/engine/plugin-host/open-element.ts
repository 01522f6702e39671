import { dirname } from 'node:path'
import type { ViewSpec } from '@eyrie/contract/view'
import type { ElementContext, Inference, Log, PictureSize } from '@eyrie/element'
import { createStreamClock } from '@eyrie/element/clock'
import { createElementMetrics, type MetricValues } from '@eyrie/element/metrics'
import type { RingLocation } from '../frames/ring-reader.ts'
import type { KnownElement } from './known-plugin.ts'
import { measureElement } from './measured-element.ts'
import type { CropModels } from './models/crop-models.ts'
import { createElementModels, type ElementModels } from './models/element-models.ts'
import type { HostedElement } from './models/hosted-element.ts'
import { decodeResult } from './protocol/infer-call.ts'
import { loadElement } from './protocol/load-element.ts'
import type { ProcessUsage } from './sandbox/limits/process-usage.ts'
import type { Sandboxes } from './sandbox/sandboxes.ts'
import { openElementThread } from './thread/thread-element.ts'

/** The parts of a channel that an element (a step of its pipeline) depends on. */
export interface OpenContext {
  /** Picture size that an earlier element of the pipeline has requested. */
  size: PictureSize | undefined
  /** Returns the frame ring (pictures in shared memory) of a view; undefined until the media service has created it. */
  findRing(view: ViewSpec): RingLocation | undefined
}

export interface OpenRequest extends OpenContext {
  args: unknown
  config: unknown
  /** Id of the channel, and of the source that it analyses. */
  channel: number
  source: number
  /** Runs the elements of uploaded plugins. */
  sandboxes: Sandboxes
  /** Whether the element only shows what it would do: nothing that it does has an effect. For uploaded plugins only. */
  isShadow?: boolean
  /** Passed only to elements whose manifest declares that they need inference. */
  inference: Inference
  /** The models that elements declare in their manifests. */
  cropModels: CropModels
  /** Receives the CPU time of a frame in ms. */
  onCost(ms: number): void
  /** Receives what the process of an uploaded plugin uses. */
  onUsage?(usage: ProcessUsage): void
  /** Receives all metrics of the element after some have changed. */
  onMetrics(metrics: MetricValues): void
  log: Log
}

/** Opens an element where its plugin belongs. Throws an `Error` if `args` or `config` is invalid. */
export async function openElement(known: KnownElement, request: OpenRequest): Promise<HostedElement> {
  const models = createElementModels({
    declared: known.manifest.capabilities?.inference,
    cropModels: request.cropModels,
    folder: dirname(known.entry),
  })
  try {
    // The models of an uploaded plugin are loaded after the plugin was verified.
    if (known.host !== 'process') await models.load()
    return models.host(await openWithModels(known, request, models))
  } catch (error) {
    models.close()
    throw error
  }
}

async function openWithModels(
  known: KnownElement,
  request: OpenRequest,
  { infer, load }: ElementModels,
): Promise<HostedElement> {
  const { entry, manifest, host, plugin } = known
  const { size, findRing, inference, onCost, onMetrics, log } = request
  const args = assertValid('args', known.checkArgs(request.args ?? {}))
  const hasConfig = request.config !== undefined
  const config = hasConfig ? assertValid('config', known.checkConfig(request.config)) : undefined
  const setup = { args, config, source: { id: request.source }, size }
  const remote = {
    source: { entry, name: manifest.name, setup },
    needsPixels: manifest.needs.includes('pixels'),
    findRing,
    onCost,
    onMetrics,
    infer,
    log,
  }

  if (host === 'process') {
    return request.sandboxes.open({
      ...remote,
      plugin: { plugin: plugin.name, version: plugin.version, channel: request.channel },
      capabilities: manifest.capabilities,
      prepare: load,
      ...(request.isShadow && { isShadow: true }),
      ...(request.onUsage && { onUsage: request.onUsage }),
    })
  }
  if (request.isShadow) throw new Error('only uploaded versions run in shadow')
  if (host === 'thread') return openElementThread(remote)

  const definition = await loadElement(entry, manifest.name)
  const { clock, advance } = createStreamClock()
  const { metrics, collect } = createElementMetrics()
  let frameNumber: number | undefined
  const fullSetup: ElementContext<unknown, unknown> = {
    ...setup,
    inference: manifest.needs.includes('inference') ? inference : undefined,
    infer: async (model, { frame, ...options } = {}) =>
      decodeResult(await infer({ method: 'infer', model, n: frame ? frame.n : frameNumber, ...options })),
    clock,
    metrics,
    log,
  }
  const element = await definition.open(fullSetup)
  const measured = measureElement(element, onCost)
  return {
    ...measured,
    get view() {
      return measured.view
    },
    process(frame, picture) {
      advance(frame)
      frameNumber = frame.n
      const changed = collect()
      if (changed) onMetrics(changed)
      return measured.process(frame, picture)
    },
  }
}

/** Returns the checked value, which is completed with the defaults of the schema. */
function assertValid(field: 'args' | 'config', checked: ReturnType<KnownElement['checkArgs']>): unknown {
  const { value, problem } = checked
  if (problem) throw new Error(`/${field}${problem.pointer} ${problem.message}`)
  return value
}
