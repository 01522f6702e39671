/**
 * The subset of JSON Schema that Eyrie's API documents use, and the annotation `defaultFrom` of
 * elements. The reference pages describe such schemas in words.
 */
export interface Schema {
  $ref?: string
  type?: string | string[]
  title?: string
  description?: string
  default?: unknown
  /** Where the default comes from, if `default` is only the most common one. */
  defaultFrom?: string
  const?: unknown
  enum?: unknown[]
  format?: string
  readOnly?: boolean
  pattern?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  prefixItems?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

/** The schema library, Zod, writes this bound for integers that have no bound of their own. */
const DEFAULT_BOUND = Number.MAX_SAFE_INTEGER

/**
 * Describes the type of a value as Markdown. References become links to the type on the same page.
 */
export function describeType(schema: Schema): string {
  if (schema.readOnly) return 'read-only; ignored in requests'
  if (schema.$ref) return renderTypeLink(schema.$ref.split('/').at(-1)!)

  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return unique(choices.map(describeType)).join(' or ')
  if (schema.allOf) return unique(schema.allOf.map(describeType)).join(' and ')

  if (schema.const !== undefined) return renderCode(schema.const)
  if (schema.enum) return schema.enum.map(renderCode).join(', ')

  if (Array.isArray(schema.type)) return describeTypes(schema, schema.type)
  if (schema.type === 'array') return describeList(schema)
  if (schema.type === 'object') return describeObject(schema)
  return joinWords([schema.type ?? 'anything', describeBounds(schema), describeFormat(schema)])
}

export const renderCode = (value: unknown) => `\`${JSON.stringify(value)}\``

const renderTypeLink = (name: string) => `[${name}](#${name.toLowerCase()})`

const unique = (texts: string[]) => [...new Set(texts)]

/** Joins the texts that are known. */
const joinWords = (texts: (string | undefined)[], separator = ' ') =>
  texts.filter(text => text !== undefined).join(separator)

/**
 * Describes a value that may have one of several types. The other keywords of the schema do
 * not apply to `null`.
 */
function describeTypes(schema: Schema, types: string[]): string {
  const texts = types.map(type => describeType(type === 'null' ? { type } : { ...schema, type }))
  return texts.join(' or ')
}

function describeList({ items, prefixItems, minItems, maxItems }: Schema): string {
  if (prefixItems) return `[${prefixItems.map(describeType).join(', ')}]`
  const content = items && `of ${describeType(items)}`
  return joinWords(['list', describeRange(minItems, maxItems, 'items'), content])
}

/** Describes an object with known fields, or a map whose values all have the same type. */
function describeObject({ properties, additionalProperties }: Schema): string {
  if (properties || typeof additionalProperties !== 'object') return 'object'
  return `object of ${describeType(additionalProperties)}`
}

function describeBounds(schema: Schema): string | undefined {
  if (schema.minLength !== undefined || schema.maxLength !== undefined) {
    return describeRange(schema.minLength, schema.maxLength, 'characters')
  }

  const min = schema.minimum === -DEFAULT_BOUND ? undefined : schema.minimum
  const max = schema.maximum === DEFAULT_BOUND ? undefined : schema.maximum
  if (schema.exclusiveMinimum === undefined) return describeRange(min, max)

  const upperBound = max === undefined ? undefined : `up to ${max}`
  return joinWords([`above ${schema.exclusiveMinimum}`, upperBound], ', ')
}

/** Describes a range such as `(1 to 5 items)`. Returns undefined if it has no bounds. */
function describeRange(
  min: number | undefined,
  max: number | undefined,
  unit?: string,
): string | undefined {
  const bounds = describeMinAndMax(min, max)
  return bounds && `(${joinWords([bounds, unit])})`
}

function describeMinAndMax(min: number | undefined, max: number | undefined): string | undefined {
  if (min === undefined) return max === undefined ? undefined : `up to ${max}`
  return max === undefined ? `from ${min}` : `${min} to ${max}`
}

const describeFormat = ({ format }: Schema) => format && `(${format})`
