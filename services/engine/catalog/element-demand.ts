import { parseElementReference } from '@eyrie/contract/element-reference'
import type { ModelCard } from '@eyrie/contract/model'
import type { PipelineElement } from '@eyrie/contract/pipeline'
import type { ManifestElement } from '@eyrie/contract/plugin'
import type { ViewSpec } from '@eyrie/contract/view'
import type { PictureSize } from '@eyrie/element'
import type { ModelStore } from '@eyrie/model-store'
import { toModelView } from '../inference/model-view.ts'

/**
 * What an element of a pipeline will compute for each frame, estimated from its arguments. The
 * engine predicts the load of a pipeline from the CPU time that it has measured for such
 * elements and models.
 */
export interface ElementDemand {
  name: string
  version: string
  /** Undefined if the element runs no model, or an unknown one. */
  inference?: InferenceDemand
}

/**
 * The model that an element will run, the type of device, and the size of the pictures
 * that the model reads.
 */
export interface InferenceDemand {
  model: string
  /** Hash of the model file. */
  sha256: string
  device: string
  view: Pick<ViewSpec, 'width' | 'height'>
}

/** What the engine knows about an element. */
interface KnownElement {
  plugin: { version: string }
  manifest: Pick<ManifestElement, 'params_mapping'>
}

/** The elements, models and devices of the engine. */
export interface DemandContext {
  elements: { get(reference: string): KnownElement | undefined }
  models: Pick<ModelStore, 'get'>
  /** The type of device that runs a model if the arguments do not select one. */
  bestDevice: string | undefined
}

/** The element whose arguments are the size to which it scales the picture. */
const RESIZING_ELEMENT = 'image-resize'

/** Estimates the demand of the elements of a pipeline. Unknown elements are omitted. */
export function estimateDemand(
  elements: readonly PipelineElement[],
  { elements: knownElements, models, bestDevice }: DemandContext,
): ElementDemand[] {
  const demands: ElementDemand[] = []
  let pictureSize: PictureSize | undefined
  for (const { name: reference, args = {} } of elements) {
    const element = knownElements.get(reference)
    if (!element) continue
    const { name } = parseElementReference(reference)
    // Other elements may resize the picture too, but their sizes are unknown before they are
    // opened. The schema of this element permits only sizes as arguments.
    if (name === RESIZING_ELEMENT) pictureSize = args as PictureSize

    const demand: ElementDemand = { name, version: element.plugin.version }
    // The manifest says which arguments of the element are the model and the device.
    const { name: modelArg, hw: deviceArg } = element.manifest.params_mapping.models ?? {}
    const model = modelArg ? models.get(String(args[modelArg])) : undefined
    const device = selectDevice(deviceArg && args[deviceArg], bestDevice)
    if (model && device) demand.inference = toInferenceDemand(model.card, device, pictureSize)
    demands.push(demand)
  }
  return demands
}

/**
 * Returns the type of device that the argument of an element selects; `auto`, the default,
 * selects the best one.
 */
function selectDevice(argument: unknown, bestDevice: string | undefined): string | undefined {
  const requested = argument ?? 'auto'
  return requested === 'auto' ? bestDevice : String(requested)
}

function toInferenceDemand(
  { name, sha256, input }: ModelCard,
  device: string,
  pictureSize: PictureSize | undefined,
): InferenceDemand {
  const { width, height } = toModelView(input, pictureSize)
  return { model: name, sha256, device, view: { width, height } }
}
