import type { PipelineElement } from '@eyrie/contract/pipeline'
import type { ManifestElement } from '@eyrie/contract/plugin'
import type { ViewSpec } from '@eyrie/contract/view'
import type { PictureSize } from '@eyrie/element'
import type { ModelStore } from '@eyrie/model-store'
import { toModelView } from '../inference/model-view.ts'

/** What an element will compute, as far as its arguments show. The costs file has measured costs for these keys. */
export interface ElementDemand {
  name: string
  version: string
  inference?: { model: string; sha256: string; device: string; view: Pick<ViewSpec, 'width' | 'height'> }
}

export interface DemandContext {
  elements: ReadonlyMap<
    string,
    { plugin: { version: string }; manifest: Pick<ManifestElement, 'params_mapping'> }
  >
  models: Pick<ModelStore, 'get'>
  /** The type of device that runs models whose arguments select no device. */
  bestDevice: string | undefined
}

/** Estimates the demand of elements from their arguments. Unknown elements are omitted. */
export function estimateDemand(
  elements: readonly PipelineElement[],
  { elements: knownElements, models, bestDevice }: DemandContext,
): ElementDemand[] {
  let pictureSize: PictureSize | undefined
  return elements.flatMap(({ name, args = {} }) => {
    const element = knownElements.get(name)
    if (!element) return []
    // Other elements may resize the picture too, but that is unknown until they have been opened.
    if (name === 'image-resize') pictureSize = args as PictureSize
    const { version } = element.plugin
    const { name: modelParam, hw: deviceParam } = element.manifest.params_mapping.models ?? {}
    const model = modelParam ? models.get(String(args[modelParam])) : undefined
    const requestedDevice = deviceParam ? (args[deviceParam] ?? 'auto') : 'auto'
    const device = requestedDevice === 'auto' ? bestDevice : String(requestedDevice)
    if (!model || !device) return [{ name, version }]
    const { name: modelName, sha256, input } = model.card
    const { width, height } = toModelView(input, pictureSize)
    return [{ name, version, inference: { model: modelName, sha256, device, view: { width, height } } }]
  })
}
