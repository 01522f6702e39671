import type { CatalogDevice, CatalogElement, CatalogModel } from '@eyrie/contract'
import { parseElementReference } from '@eyrie/contract/element-reference'
import { syntaxError, toJsonPointer } from '@eyrie/contract/parse'
import type { PipelineElement } from '@eyrie/contract/pipeline'
import type { ModelStore } from '@eyrie/model-store'
import type { InferencePool } from '../inference/inference.ts'
import {
  describeInvalidSourceKey,
  findDuplicateShape,
  parseSourceKey,
} from '../plan/source-keyed-config.ts'
import type { KnownElements } from '../plugin-host/known-elements.ts'
import type { KnownElement } from '../plugin-host/known-plugin.ts'
import { type ElementDemand, estimateDemand } from './element-demand.ts'

/**
 * The elements, models and devices that are available to pipelines. A pipeline consists of
 * elements, which plugins provide; some of them run a model on a device, such as the CPU.
 */
export interface Catalog {
  elements(): CatalogElement[]
  /**
   * Lists each model for each type of device: for the `devices` of this machine, or without
   * that filter (`none`).
   */
  models(filter: 'devices' | 'none'): CatalogModel[]
  devices(): CatalogDevice[]
  /**
   * Throws `EyrieError` (`syntax`) unless args and config match the schemas of the element, and
   * its model and device exist. The reason starts with a JSON pointer: `path`, followed by the
   * place inside the element.
   */
  checkElement(element: PipelineElement, path: string): void
  /** Estimates what the elements will compute. Unknown elements are omitted. */
  estimateDemand(elements: readonly PipelineElement[]): ElementDemand[]
  /**
   * Whether the config of this element has a value for each source, under keys such
   * as `"1"` or `"1,2"`.
   */
  isKeyedBySource(element: string): boolean
}

export interface CatalogDependencies {
  elements: KnownElements
  models: Pick<ModelStore, 'list' | 'get'>
  inference: Pick<InferencePool, 'devices'>
}

const ALL_DEVICE_TYPES = ['cpu', 'gpu', 'igpu']

export function createCatalog({ elements, models, inference }: CatalogDependencies): Catalog {
  const listDeviceTypes = () => inference.devices().map(({ type }) => type)

  function checkElement({ name, args = {}, config }: PipelineElement, path: string): void {
    const element = elements.get(name)
    if (!element) throw syntaxError(`${path}/name`, describeUnknownElement(name, elements))

    const { value: completedArgs, problem } = element.checkArgs(args)
    if (problem) throw syntaxError(`${path}/args${problem.pointer}`, problem.message)
    if (config) checkConfig(element, config, path)
    // Valid args are an object, to which the check has only added defaults.
    checkModel(element, completedArgs as Record<string, unknown>, path)
  }

  /**
   * Throws `EyrieError` (`syntax`) if the model or the device that the arguments
   * select does not exist.
   */
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
    if (typeof device === 'string' && device !== 'auto' && !listDeviceTypes().includes(device)) {
      throw syntaxError(
        `${path}/args/${params.hw}`,
        `unknown device ${device}; ${formatAvailable(listDeviceTypes())}`,
      )
    }
  }

  /** Returns the arguments that select this model on this device, by the name of the element. */
  function listModelArgs(model: string, device: string): CatalogModel['args'] {
    const argsByElement: CatalogModel['args'] = {}
    for (const element of elements.values()) {
      const params = getModelParams(element)
      if (!params) continue
      argsByElement[element.manifest.name] = {
        ...(params.name && { [params.name]: model }),
        ...(params.hw && { [params.hw]: device }),
      }
    }
    return argsByElement
  }

  return {
    elements: () =>
      [...elements.values()].map(({ plugin, manifest }) => {
        // These fields concern only the engine, which runs the element.
        const { runs: _runs, stateless: _stateless, needs: _needs, ...published } = manifest
        return { ...published, version: plugin.version }
      }),

    models: filter => {
      const deviceTypes = filter === 'devices' ? listDeviceTypes() : ALL_DEVICE_TYPES
      const names = models.list().map(({ card }) => card.name)
      return names.flatMap(name =>
        deviceTypes.map(hw => ({ name, hw, args: listModelArgs(name, hw) })),
      )
    },

    devices: () => inference.devices(),
    checkElement,
    estimateDemand: pipelineElements =>
      estimateDemand(pipelineElements, { elements, models, bestDevice: listDeviceTypes()[0] }),
    isKeyedBySource: name => elements.get(name)?.isKeyedBySource === true,
  }
}

/**
 * Returns the names of the parameters that select a model and its device; undefined if the
 * element runs no models.
 */
const getModelParams = ({ manifest }: KnownElement) => manifest.params_mapping.models

/** Throws `EyrieError` (`syntax`) if the config of an element is invalid. */
function checkConfig(element: KnownElement, config: Record<string, unknown>, path: string): void {
  if (element.isKeyedBySource) {
    const invalidKey = Object.keys(config).find(key => !parseSourceKey(key))
    if (invalidKey !== undefined) {
      throw syntaxError(
        `${path}${toJsonPointer(['config', invalidKey])}`,
        describeInvalidSourceKey(invalidKey),
      )
    }
  }

  const { problem } = element.checkConfig(config)
  if (problem) throw syntaxError(`${path}/config${problem.pointer}`, problem.message)

  const duplicate = element.isKeyedBySource && findDuplicateShape(config)
  if (duplicate) {
    throw syntaxError(
      `${path}/config${duplicate.pointer}`,
      `source ${duplicate.sourceId} already has a shape named ${duplicate.name}`,
    )
  }
}

/**
 * Returns the error message for a reference to an unknown element, or to an unknown
 * version of a known one.
 */
function describeUnknownElement(reference: string, elements: KnownElements): string {
  const { name, pin } = parseElementReference(reference)
  const versions = elements.listVersions(name)
  if (pin === undefined || versions.length === 0) {
    const names = [...elements.values()].map(({ manifest }) => manifest.name)
    return `unknown element ${reference}; ${formatAvailable(names)}`
  }
  const [majorVersion] = versions[0]!.split('.')
  return (
    `no installed version of ${name} matches "${pin}": use one of ${versions.join(', ')}, ` +
    `the beginning of one, such as ${name}@${majorVersion}, or ${name} for the active version`
  )
}

const formatAvailable = (names: readonly string[]) =>
  names.length > 0 ? `available: ${names.join(', ')}` : 'none is available'
