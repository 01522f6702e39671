/** The subset of JSON Schema that Eyrie's documents use. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  title?: string
  description?: string
  default?: unknown
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

/** Zod's default bound of integers. */
const MAX_SAFE = Number.MAX_SAFE_INTEGER

/** Describes the type of a value. References are links to the type on the same page. */
export function describeType(schema: Schema): string {
  if (schema.readOnly) return 'read-only; ignored in requests'
  if (schema.$ref) return link(schema.$ref.split('/').at(-1)!)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return unique(choices.map(describeType)).join(' or ')
  if (schema.allOf) return unique(schema.allOf.map(describeType)).join(' and ')
  if (schema.const !== undefined) return renderCode(schema.const)
  if (schema.enum) return schema.enum.map(renderCode).join(', ')
  if (Array.isArray(schema.type))
    return schema.type
      .map(type => describeType(type === 'null' ? { type } : { ...schema, type }))
      .join(' or ')
  if (schema.type === 'array') return describeList(schema)
  if (schema.type === 'object') return describeMap(schema)
  return [schema.type ?? 'anything', describeBounds(schema), describeFormat(schema)].filter(Boolean).join(' ')
}

export const renderCode = (value: unknown) => `\`${JSON.stringify(value)}\``

const anchor = (name: string) => `#${name.toLowerCase()}`

const link = (name: string) => `[${name}](${anchor(name)})`

const unique = (texts: string[]) => [...new Set(texts)]

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
  if (schema.minLength !== undefined || schema.maxLength !== undefined)
    return describeRange(schema.minLength, schema.maxLength, 'characters')
  const min = schema.minimum === -MAX_SAFE ? undefined : schema.minimum
  const max = schema.maximum === MAX_SAFE ? undefined : schema.maximum
  if (schema.exclusiveMinimum !== undefined)
    return [`above ${schema.exclusiveMinimum}`, max !== undefined && `up to ${max}`]
      .filter(Boolean)
      .join(', ')
  return describeRange(min, max)
}

function describeRange(min: number | undefined, max: number | undefined, unit = ''): string | undefined {
  if (min === undefined && max === undefined) return undefined
  const bounds = min === undefined ? `up to ${max}` : max === undefined ? `from ${min}` : `${min} to ${max}`
  return `(${[bounds, unit].filter(Boolean).join(' ')})`
}

const describeFormat = ({ format }: Schema) => format && `(${format})`
