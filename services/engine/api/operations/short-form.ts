import type { CatalogElement, PipelineElement, PipelineElementV2 } from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'
import { z } from 'zod'
import type { Catalog } from '../../catalog/catalog.ts'

const property = z.looseObject({ type: z.string().optional() })
const parameters = z.looseObject({
  properties: z.record(z.string(), property).default({}),
  required: z.array(z.string()).default([]),
})
const paramsSchema = z.union([z.looseObject({ oneOf: z.array(parameters) }), parameters])

type Parameters = z.infer<typeof parameters>

/** Expands elements from the short to the long form. `path` is the JSON pointer to the list. */
export type ExpandElements = (elements: PipelineElementV2[], path: string) => PipelineElement[]

/** Reads the catalog at each call, because plugins can change at any time. */
export function createElementExpander(catalog: Pick<Catalog, 'elements'>): ExpandElements {
  return (elements, path) => {
    const known = catalog.elements()
    return elements.map((element, index) => expandElement(element, known, `${path}/${index}`))
  }
}

/**
 * Expands an element from the short form `name:arg:arg`. Arguments are positional, in the order of the properties of the
 * element's schema; an empty argument is omitted. If the schema has variants, the first one that accepts this number of
 * arguments is used. Throws `EyrieError` (`syntax`) at `path` if there are too many arguments.
 */
export function expandElement(
  element: PipelineElementV2,
  catalog: CatalogElement[],
  path: string,
): PipelineElement {
  if (typeof element !== 'string') return element
  const [name = '', ...values] = element.split(':')
  const catalogElement = catalog.find(candidate => candidate.name === name)
  if (!catalogElement || values.length === 0) return { name }
  const { properties } = selectVariant(catalogElement, values.length)
  const names = Object.keys(properties)
  if (values.length > names.length)
    throw syntaxError(
      path,
      `${name} accepts at most ${names.length} arguments: ${[name, ...names].join(':')}`,
    )
  const args = new Map<string, unknown>()
  for (const [index, text] of values.entries()) {
    const key = names[index]!
    if (text !== '') args.set(key, parseArgument(text, properties[key]!))
  }
  return { name, args: Object.fromEntries(args) }
}

function selectVariant({ params_schema }: CatalogElement, count: number): Parameters {
  const schema = paramsSchema.parse(params_schema ?? {})
  if (!('oneOf' in schema)) return schema as Parameters
  const variants = schema.oneOf as Parameters[]
  const accepts = ({ properties, required }: Parameters) =>
    count >= required.length && count <= Object.keys(properties).length
  return variants.find(accepts) ?? variants[0]!
}

/** Invalid values remain text; the schema of the element rejects them later. */
function parseArgument(text: string, { type }: z.infer<typeof property>): unknown {
  if (type === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
