import type { CatalogDevice, CatalogElement, CatalogModel } from '@eyrie/contract'
import { syntaxError, toJsonPointer } from '@eyrie/contract/parse'
import type { PipelineElement } from '@eyrie/contract/pipeline'
import type { ModelStore } from '@eyrie/model-store'
import type { InferencePool } from '../inference/inference.ts'
import { findDuplicateShape, parseSourceKey, SOURCE_KEY_RULE } from '../plan/source-keyed-config.ts'
import type { KnownElement } from '../plugin-host/known-plugin.ts'
import { demandOf, type ElementDemand } from './element-demand.ts'

/** The elements, models and devices that pipelines can be made of. */
export interface Catalog {
  elements(): CatalogElement[]
  models(filter: 'devices' | 'none'): CatalogModel[]
  devices(): CatalogDevice[]
  /**
   * Checks args and config against the schemas of the element, its model and device included.
   * Throws EyrieError `syntax` whose reason begins with the JSON toJsonPointer `at` plus the place inside the element.
   */
  check(element: PipelineElement, at: string): void
  /** The expected costs of the elements; unknown elements are left out. */
  demandOf(elements: readonly PipelineElement[]): ElementDemand[]
  /** Whether the keys of this element's config name sources (`"1"`, `"1,2"`). */
  keysAreSources(element: string): boolean
}

export interface CatalogDependencies {
  elements: ReadonlyMap<string, KnownElement>
  models: Pick<ModelStore, 'list' | 'get'>
  inference: Pick<InferencePool, 'devices'>
}

export function createCatalog({ elements, models, inference }: CatalogDependencies): Catalog {
  const deviceTypes = () => inference.devices().map(({ type }) => type)

  /** The element's parameters that name a model and its device, if it has such. */
  const modelParams = ({ manifest }: KnownElement) => manifest.params_mapping.models

  function checkModel(known: KnownElement, args: Record<string, unknown>, at: string): void {
    const params = modelParams(known)
    if (!params) return
    const model = params.name && args[params.name]
    if (typeof model === 'string' && !models.get(model)) {
      const there = models.list().map(({ card }) => card.name)
      throw syntaxError(`${at}/args/${params.name}`, `there is no model ${model}; ${listing(there)}`)
    }
    const hw = params.hw && args[params.hw]
    if (typeof hw === 'string' && hw !== 'auto' && !deviceTypes().includes(hw)) {
      throw syntaxError(`${at}/args/${params.hw}`, `there is no device ${hw}; ${listing(deviceTypes())}`)
    }
  }

  function check({ name, args = {}, config }: PipelineElement, at: string): void {
    const known = elements.get(name)
    if (!known)
      throw syntaxError(`${at}/name`, `there is no element ${name}; ${listing([...elements.keys()])}`)
    const checked = known.checkArgs(args)
    if (checked.problem) throw syntaxError(`${at}/args${checked.problem.pointer}`, checked.problem.message)
    const wrongKey = known.isKeyedBySource && Object.keys(config ?? {}).find(key => !parseSourceKey(key))
    if (typeof wrongKey === 'string')
      throw syntaxError(`${at}${toJsonPointer(['config', wrongKey])}`, SOURCE_KEY_RULE)
    const { problem } = config ? known.checkConfig(config) : {}
    if (problem) throw syntaxError(`${at}/config${problem.pointer}`, problem.message)
    const twice = config && known.isKeyedBySource && findDuplicateShape(config)
    if (twice) {
      throw syntaxError(
        `${at}/config${twice.pointer}`,
        `source ${twice.source} has another shape named ${twice.name}`,
      )
    }
    checkModel(known, checked.value as Record<string, unknown>, at)
  }

  return {
    elements: () =>
      [...elements.values()].map(({ plugin, manifest }) => {
        const { runs, stateless, needs, ...shown } = manifest
        return { ...shown, version: plugin.version }
      }),

    models: filter => {
      const present = filter === 'devices' ? deviceTypes() : ['cpu', 'gpu', 'igpu']
      const users = [...elements.values()].filter(modelParams)
      return models.list().flatMap(({ card }) =>
        present.map(hw => ({
          name: card.name,
          hw,
          args: Object.fromEntries(
            users.map(known => {
              const { name, hw: device } = modelParams(known)!
              return [
                known.manifest.name,
                { ...(name && { [name]: card.name }), ...(device && { [device]: hw }) },
              ]
            }),
          ),
        })),
      )
    },

    devices: () => inference.devices(),
    check,
    demandOf: asked => demandOf(asked, { elements, models, bestDevice: deviceTypes()[0] }),
    keysAreSources: name => elements.get(name)?.isKeyedBySource === true,
  }
}

const listing = (names: readonly string[]) =>
  names.length > 0 ? `there is: ${names.join(', ')}` : 'there is none'
