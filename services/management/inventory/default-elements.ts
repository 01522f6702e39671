import type { Catalog, CatalogElement, PipelineElement } from '@eyrie/contract'
import { pluginUsecase, USECASE_KEYWORD } from '@eyrie/contract/management/index'

/** The element that does what a usecase is about, behind those that find and follow objects. */
const standard: Record<string, string> = {
  'line-crossing': 'line-crossing',
  occupancy: 'detect-zone-intersection',
  'social-distancing': 'social-distancing',
}

const FINDING = ['infer', 'object-tracking']

/**
 * The elements that a pipeline of this usecase is usually made of, with the defaults of their arguments, as far as one of
 * the catalogs tells them.
 */
export function defaultElements(usecase_key: string, catalogs: readonly Catalog[]): PipelineElement[] {
  const has = ({ elements = [] }: Catalog, name: string) => elements.some(element => element.name === name)
  const brought = catalogs.flatMap(({ elements = [] }) =>
    elements.filter(element => brings(element, usecase_key)),
  )
  const own = [...new Set([...brought.map(({ name }) => name), standard[usecase_key] ?? []].flat())]
  const names = [...FINDING, ...own]
  const catalog = catalogs.find(each => names.every(name => has(each, name))) ?? catalogs[0]
  return names.map(name => {
    const element = catalog?.elements?.find(each => each.name === name)
    return { name, args: { ...defaultsOf(element), ...modelArgs(name, catalog) } }
  })
}

const brings = ({ output_schema }: CatalogElement, key: string) =>
  pluginUsecase.safeParse(output_schema?.[USECASE_KEYWORD]).data?.key === key

function defaultsOf(element: CatalogElement | undefined): Record<string, unknown> {
  const properties = (element?.params_schema?.properties ?? {}) as Record<string, { default?: unknown }>
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) =>
      schema.default === undefined ? [] : [[name, schema.default]],
    ),
  )
}

/** Of the first model that the element can use. */
const modelArgs = (element: string, catalog: Catalog | undefined): Record<string, unknown> => {
  const args = catalog?.models?.map(model => model.args[element]).find(Boolean)
  return args?.model === undefined ? {} : { model: args.model }
}
