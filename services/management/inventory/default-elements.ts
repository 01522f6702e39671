import type { Catalog, CatalogElement, PipelineElement } from '@eyrie/contract'
import { pluginUsecase, USECASE_KEYWORD } from '@eyrie/contract/management/index'

/**
 * The elements (processing steps) that every default pipeline starts with: detection and
 * tracking of objects.
 */
const DETECTION_ELEMENTS = ['infer', 'object-tracking']

/** The element that implements each built-in usecase. */
const BUILT_IN_ELEMENTS: Record<string, string> = {
  'line-crossing': 'line-crossing',
  occupancy: 'detect-zone-intersection',
  'social-distancing': 'social-distancing',
}

/**
 * Returns the elements of a new pipeline for a usecase, with their default arguments. `catalogs`
 * describe the elements and models of engines. The arguments are taken from the first catalog that
 * contains all elements. If there is no such catalog, they are taken from the first one.
 */
export function createDefaultElements(
  usecaseKey: string,
  catalogs: readonly Catalog[],
): PipelineElement[] {
  const names = [...DETECTION_ELEMENTS, ...findUsecaseElements(usecaseKey, catalogs)]
  const hasAllElements = (candidate: Catalog) => names.every(name => findElement(candidate, name))
  const catalog = catalogs.find(hasAllElements) ?? catalogs[0]

  return names.map(name => {
    const element = catalog && findElement(catalog, name)
    return { name, args: { ...readDefaultArgs(element), ...findModelArgs(name, catalog) } }
  })
}

/**
 * Returns the names of the elements that implement a usecase: elements of plugins, then
 * the built-in element.
 */
function findUsecaseElements(usecaseKey: string, catalogs: readonly Catalog[]): Set<string> {
  const names = new Set<string>()
  for (const element of catalogs.flatMap(({ elements = [] }) => elements)) {
    if (readUsecaseKey(element) === usecaseKey) names.add(element.name)
  }
  const builtIn = BUILT_IN_ELEMENTS[usecaseKey]
  if (builtIn) names.add(builtIn)
  return names
}

/** Returns the usecase that an element of a plugin declares, if any. */
const readUsecaseKey = ({ output_schema }: CatalogElement) =>
  pluginUsecase.safeParse(output_schema?.[USECASE_KEYWORD]).data?.key

const findElement = ({ elements = [] }: Catalog, name: string) =>
  elements.find(element => element.name === name)

/** Returns the defaults of an element's arguments, as its JSON schema states them. */
function readDefaultArgs(element: CatalogElement | undefined): Record<string, unknown> {
  const properties = (element?.params_schema?.properties ?? {}) as Record<
    string,
    { default?: unknown }
  >
  const args: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(properties)) {
    if (schema.default !== undefined) args[name] = schema.default
  }
  return args
}

/**
 * Returns the argument that selects the first model that an element can use. The catalog lists the
 * arguments for each model by the names of the elements that can use it.
 */
function findModelArgs(elementName: string, catalog: Catalog | undefined): Record<string, unknown> {
  const models = catalog?.models ?? []
  const usableModel = models.find(({ args }) => args[elementName])
  const model = usableModel?.args[elementName]?.model
  return model === undefined ? {} : { model }
}
