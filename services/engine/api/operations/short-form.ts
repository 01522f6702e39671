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

/** Elements in their long forms; `at` is the JSON pointer to the list. */
export type LongForms = (elements: PipelineElementV2[], at: string) => PipelineElement[]

/** Makes long forms by what the catalog holds at the moment. */
export function longFormsBy(catalog: Pick<Catalog, 'elements'>): LongForms {
  return (elements, at) =>
    elements.map((element, index) => longForm(element, catalog.elements(), `${at}/${index}`))
}

/**
 * An element in its long form. `name:arg:arg` gives arguments by position, in the order of the properties of the
 * element's schema; an empty one is left out. Of a schema with variants the first counts that takes so many.
 * Throws EyrieError `syntax` at `at` where there are too many.
 */
export function longForm(given: PipelineElementV2, catalog: CatalogElement[], at: string): PipelineElement {
  if (typeof given !== 'string') return given
  const [name = '', ...values] = given.split(':')
  const known = catalog.find(element => element.name === name)
  if (!known || values.length === 0) return { name }
  const { properties } = parametersFor(known, values.length)
  const names = Object.keys(properties)
  if (values.length > names.length)
    throw syntaxError(at, `${name} takes ${names.length} arguments at most: ${[name, ...names].join(':')}`)
  const args = names.slice(0, values.length).map((key, index) => [key, values[index]!] as const)
  return {
    name,
    args: Object.fromEntries(
      args.filter(([, text]) => text !== '').map(([key, text]) => [key, typed(text, properties[key]!)]),
    ),
  }
}

function parametersFor({ params_schema }: CatalogElement, count: number): Parameters {
  const schema = paramsSchema.parse(params_schema ?? {})
  if (!('oneOf' in schema)) return schema as Parameters
  const variants = schema.oneOf as Parameters[]
  const takes = ({ properties, required }: Parameters) =>
    count >= required.length && count <= Object.keys(properties).length
  return variants.find(takes) ?? variants[0]!
}

/** The value that a text stands for. What it cannot stand for stays text, for the element's schema to refuse. */
function typed(text: string, { type }: z.infer<typeof property>): unknown {
  if (type === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
