import type { PipelineElement } from '@eyrie/contract/pipeline'
import type { ManifestElement } from '@eyrie/contract/plugin'
import type { ViewSpec } from '@eyrie/contract/view'
import type { PictureSize } from '@eyrie/element'
import type { ModelStore } from '@eyrie/model-store'
import { toModelView } from '../inference/model-view.ts'

/** The expected cost of an element, as far as its arguments show it. */
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
  /** The type of the device that a model runs on where none is asked for. */
  bestDevice: string | undefined
}

/** What elements will ask for, read off their arguments; those that nobody knows ask for nothing. */
export function demandOf(
  elements: readonly PipelineElement[],
  { elements: known, models, bestDevice }: DemandContext,
): ElementDemand[] {
  let size: PictureSize | undefined
  return elements.flatMap(({ name, args = {} }) => {
    const element = known.get(name)
    if (!element) return []
    // The one element whose arguments are a size; what other elements make of the picture shows when they are opened.
    if (name === 'image-resize') size = args as PictureSize
    const { name: modelParam, hw: deviceParam } = element.manifest.params_mapping.models ?? {}
    const model = modelParam ? models.get(String(args[modelParam])) : undefined
    const asked = deviceParam ? (args[deviceParam] ?? 'auto') : 'auto'
    const device = asked === 'auto' ? bestDevice : String(asked)
    const { version } = element.plugin
    if (!model || !device) return [{ name, version }]
    const { name: named, sha256, input } = model.card
    const { width, height } = toModelView(input, size)
    return [{ name, version, inference: { model: named, sha256, device, view: { width, height } } }]
  })
}
