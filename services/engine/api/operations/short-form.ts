import type { CatalogElement, PipelineElement, PipelineElementV2 } from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'
import { z } from 'zod'
import type { Catalog } from '../../catalog/catalog.ts'

/**
 * v1 and v2 of the API accept an element of a pipeline in short form: the name and the arguments,
 * separated by colons, such as `image-resize:640:360`. The long form is
 * `{ name: 'image-resize', args: { width: 640, height: 360 } }`.
 */

/** Expands elements to the long form. `path` is the JSON pointer to the elements. */
export type ExpandElements = (elements: PipelineElementV2[], path: string) => PipelineElement[]

/**
 * Creates the function that expands elements. It reads the catalog at each call, because plugins
 * may be added or removed.
 */
export function createElementExpander(catalog: Pick<Catalog, 'elements'>): ExpandElements {
  return (elements, path) => {
    const catalogElements = catalog.elements()
    return elements.map((element, index) =>
      expandElement(element, catalogElements, `${path}/${index}`),
    )
  }
}

/**
 * Expands an element from the short form. Arguments have the order of the properties in the schema
 * of the element; an empty argument is omitted. Throws `EyrieError` (`syntax`) at `path` if there
 * are too many arguments, or arguments and a pinned version.
 */
export function expandElement(
  element: PipelineElementV2,
  catalogElements: CatalogElement[],
  path: string,
): PipelineElement {
  if (typeof element !== 'string') return element
  const [name = '', ...texts] = element.split(':')
  const hasVersion = name.includes('@')
  if (hasVersion && texts.length > 0) {
    throw syntaxError(
      path,
      `the short form has no versions: write {"name": "${name}", "args": {…}} instead`,
    )
  }
  const catalogElement = catalogElements.find(candidate => candidate.name === name)
  // The validation of the pipeline reports unknown elements later.
  if (!catalogElement || texts.length === 0) return { name }

  const parameters = Object.entries(findVariant(catalogElement, texts.length).properties)
  if (texts.length > parameters.length) {
    const usage = [name, ...parameters.map(([parameter]) => parameter)].join(':')
    throw syntaxError(path, `${name} accepts at most ${parameters.length} arguments: ${usage}`)
  }

  const args: [name: string, value: unknown][] = []
  for (const [index, text] of texts.entries()) {
    const [parameter, schema] = parameters[index]!
    if (text !== '') args.push([parameter, parseArgument(text, schema)])
  }
  return { name, args: Object.fromEntries(args) }
}

/** The keywords of an element's JSON Schema that the short form depends on. */
const parameterSchema = z.looseObject({ type: z.string().optional() })
const variantSchema = z.looseObject({
  properties: z.record(z.string(), parameterSchema).default({}),
  required: z.array(z.string()).default([]),
})
type Variant = z.infer<typeof variantSchema>

/** The variants of the parameters: the alternatives in `oneOf`, or the schema itself. */
const variantsSchema = z.union([
  z.looseObject({ oneOf: z.array(variantSchema) }).transform(({ oneOf }) => oneOf),
  variantSchema.transform(variant => [variant]),
])

/** Returns the first variant that accepts this number of arguments, or else the first one. */
function findVariant(element: CatalogElement, argumentCount: number): Variant {
  const variants = variantsSchema.parse(element.params_schema ?? {})
  const accepts = ({ properties, required }: Variant) =>
    argumentCount >= required.length && argumentCount <= Object.keys(properties).length
  return variants.find(accepts) ?? variants[0]!
}

/**
 * Text that is not valid JSON is returned unchanged: the schema of the element rejects
 * it later if necessary.
 */
function parseArgument(text: string, { type }: z.infer<typeof parameterSchema>): unknown {
  if (type === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
