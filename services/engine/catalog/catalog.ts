import type { CatalogDevice, CatalogElement, CatalogModel } from '@eyrie/contract'
import { syntaxError, toJsonPointer } from '@eyrie/contract/parse'
import type { PipelineElement } from '@eyrie/contract/pipeline'
import type { ModelStore } from '@eyrie/model-store'
import type { InferencePool } from '../inference/inference.ts'
import { findDuplicateShape, parseSourceKey, SOURCE_KEY_RULE } from '../plan/source-keyed-config.ts'
import type { KnownElement } from '../plugin-host/known-plugin.ts'
import { type ElementDemand, estimateDemand } from './element-demand.ts'

/** The elements, models and devices that are available to pipelines. */
export interface Catalog {
  elements(): CatalogElement[]
  /** Models for the devices of this machine, or for all device types (`none`). */
  models(filter: 'devices' | 'none'): CatalogModel[]
  devices(): CatalogDevice[]
  /**
   * Validates args and config with the schemas of the element, and checks that its model and device exist.
   * Throws `EyrieError` (`syntax`); the reason begins with the JSON pointer `path` plus the place inside the element.
   */
  checkElement(element: PipelineElement, path: string): void
  /** The expected resource demand of the elements. Unknown elements are omitted. */
  estimateDemand(elements: readonly PipelineElement[]): ElementDemand[]
  /** Whether the config of this element is keyed by sources (`"1"`, `"1,2"`). */
  isKeyedBySource(element: string): boolean
}

export interface CatalogDependencies {
  elements: ReadonlyMap<string, KnownElement>
  models: Pick<ModelStore, 'list' | 'get'>
  inference: Pick<InferencePool, 'devices'>
}

export function createCatalog({ elements, models, inference }: CatalogDependencies): Catalog {
  const listDeviceTypes = () => inference.devices().map(({ type }) => type)

  function checkElement({ name, args = {}, config }: PipelineElement, path: string): void {
    const element = elements.get(name)
    if (!element)
      throw syntaxError(`${path}/name`, `unknown element ${name}; ${formatAvailable([...elements.keys()])}`)
    const checkedArgs = element.checkArgs(args)
    if (checkedArgs.problem)
      throw syntaxError(`${path}/args${checkedArgs.problem.pointer}`, checkedArgs.problem.message)
    if (config) checkConfig(element, config, path)
    checkModel(element, checkedArgs.value as Record<string, unknown>, path)
  }

  function checkModel(element: KnownElement, args: Record<string, unknown>, path: string): void {
    const params = getModelParams(element)
    if (!params) return
    const model = params.name && args[params.name]
    if (typeof model === 'string' && !models.get(model)) {
      const available = models.list().map(({ card }) => card.name)
      throw syntaxError(
        `${path}/args/${params.name}`,
        `unknown model ${model}; ${formatAvailable(available)}`,
      )
    }
    const device = params.hw && args[params.hw]
    if (typeof device === 'string' && device !== 'auto' && !listDeviceTypes().includes(device))
      throw syntaxError(
        `${path}/args/${params.hw}`,
        `unknown device ${device}; ${formatAvailable(listDeviceTypes())}`,
      )
  }

  /** The arguments of each element that select this model on this device. */
  function listModelArgs(model: string, device: string): CatalogModel['args'] {
    const entries = [...elements.values()].flatMap(element => {
      const params = getModelParams(element)
      if (!params) return []
      const args = { ...(params.name && { [params.name]: model }), ...(params.hw && { [params.hw]: device }) }
      return [[element.manifest.name, args] as const]
    })
    return Object.fromEntries(entries)
  }

  return {
    elements: () =>
      [...elements.values()].map(({ plugin, manifest }) => {
        const { runs, stateless, needs, ...published } = manifest
        return { ...published, version: plugin.version }
      }),

    models: filter => {
      const devices = filter === 'devices' ? listDeviceTypes() : ['cpu', 'gpu', 'igpu']
      return models
        .list()
        .flatMap(({ card: { name } }) => devices.map(hw => ({ name, hw, args: listModelArgs(name, hw) })))
    },

    devices: () => inference.devices(),
    checkElement,
    estimateDemand: pipelineElements =>
      estimateDemand(pipelineElements, { elements, models, bestDevice: listDeviceTypes()[0] }),
    isKeyedBySource: name => elements.get(name)?.isKeyedBySource === true,
  }
}

/** The names of the element's parameters for a model and its device, if it runs models. */
const getModelParams = ({ manifest }: KnownElement) => manifest.params_mapping.models

function checkConfig(element: KnownElement, config: Record<string, unknown>, path: string): void {
  if (element.isKeyedBySource) {
    const invalidKey = Object.keys(config).find(key => !parseSourceKey(key))
    if (invalidKey !== undefined)
      throw syntaxError(`${path}${toJsonPointer(['config', invalidKey])}`, SOURCE_KEY_RULE)
  }
  const { problem } = element.checkConfig(config)
  if (problem) throw syntaxError(`${path}/config${problem.pointer}`, problem.message)
  const duplicate = element.isKeyedBySource && findDuplicateShape(config)
  if (duplicate)
    throw syntaxError(
      `${path}/config${duplicate.pointer}`,
      `source ${duplicate.source} already has a shape named ${duplicate.name}`,
    )
}

const formatAvailable = (names: readonly string[]) =>
  names.length > 0 ? `available: ${names.join(', ')}` : 'none is available'
