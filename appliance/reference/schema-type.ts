/**
 * The subset of JSON Schema that Eyrie's API documents use. The reference pages describe
 * such schemas in words.
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
  exclusiveMaximum?: number
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
  if (schema.type === 'object') return describeMap(schema)
  return [schema.type ?? 'anything', describeBounds(schema), describeFormat(schema)]
    .filter(Boolean)
    .join(' ')
}

export const renderCode = (value: unknown) => `\`${JSON.stringify(value)}\``

const renderTypeLink = (name: string) => `[${name}](#${name.toLowerCase()})`

const unique = (texts: string[]) => [...new Set(texts)]

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
  return ['list', describeRange(minItems, maxItems, 'items'), items && `of ${describeType(items)}`]
    .filter(Boolean)
    .join(' ')
}

function describeMap({ properties, additionalProperties }: Schema): string {
  if (properties || typeof additionalProperties !== 'object') return 'object'
  return `object of ${describeType(additionalProperties)}`
}

function describeBounds(schema: Schema): string | undefined {
  if (schema.minLength !== undefined || schema.maxLength !== undefined) {
    return describeRange(schema.minLength, schema.maxLength, 'characters')
  }
  const min = schema.minimum === -DEFAULT_BOUND ? undefined : schema.minimum
  const max = schema.maximum === DEFAULT_BOUND ? undefined : schema.maximum
  if (schema.exclusiveMinimum !== undefined) {
    return [`above ${schema.exclusiveMinimum}`, max !== undefined && `up to ${max}`]
      .filter(Boolean)
      .join(', ')
  }
  return describeRange(min, max)
}

function describeRange(
  min: number | undefined,
  max: number | undefined,
  unit = '',
): string | undefined {
  if (min === undefined && max === undefined) return undefined
  let bounds = `${min} to ${max}`
  if (min === undefined) bounds = `up to ${max}`
  if (max === undefined) bounds = `from ${min}`
  return unit ? `(${bounds} ${unit})` : `(${bounds})`
}

const describeFormat = ({ format }: Schema) => format && `(${format})`
