import type { Catalog, CatalogElement, PipelineElement } from '@eyrie/contract'
import { pluginUsecase, USECASE_KEYWORD } from '@eyrie/contract/management/index'

/** The elements that detect and track objects; a pipeline starts with them. */
const DETECTION_ELEMENTS = ['infer', 'object-tracking']

/** The element that implements a built-in usecase. */
const builtInElements: Record<string, string> = {
  'line-crossing': 'line-crossing',
  occupancy: 'detect-zone-intersection',
  'social-distancing': 'social-distancing',
}

/**
 * Returns the usual elements of a pipeline for a usecase. Their arguments have the defaults of the first catalog that has all
 * of the elements, or of the first catalog.
 */
export function createDefaultElements(usecase_key: string, catalogs: readonly Catalog[]): PipelineElement[] {
  const names = [...DETECTION_ELEMENTS, ...findUsecaseElements(usecase_key, catalogs)]
  const catalog = catalogs.find(each => names.every(name => findElement(each, name))) ?? catalogs[0]
  return names.map(name => {
    const element = catalog && findElement(catalog, name)
    return { name, args: { ...readDefaultArgs(element), ...findModelArgs(name, catalog) } }
  })
}

/** Returns the names of the elements that implement a usecase: those of plugins, then the built-in one. */
function findUsecaseElements(usecase_key: string, catalogs: readonly Catalog[]): Set<string> {
  const names = new Set<string>()
  for (const { elements = [] } of catalogs)
    for (const element of elements) if (readUsecaseKey(element) === usecase_key) names.add(element.name)
  const builtIn = builtInElements[usecase_key]
  if (builtIn) names.add(builtIn)
  return names
}

const readUsecaseKey = ({ output_schema }: CatalogElement) =>
  pluginUsecase.safeParse(output_schema?.[USECASE_KEYWORD]).data?.key

const findElement = ({ elements = [] }: Catalog, name: string) =>
  elements.find(element => element.name === name)

function readDefaultArgs(element: CatalogElement | undefined): Record<string, unknown> {
  const properties = (element?.params_schema?.properties ?? {}) as Record<string, { default?: unknown }>
  const args: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(properties))
    if (schema.default !== undefined) args[name] = schema.default
  return args
}

/** Returns the argument that selects the first model the element can use. */
function findModelArgs(element: string, catalog: Catalog | undefined): Record<string, unknown> {
  const args = catalog?.models?.map(model => model.args[element]).find(Boolean)
  return args?.model === undefined ? {} : { model: args.model }
}
