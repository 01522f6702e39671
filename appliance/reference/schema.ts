/** The part of JSON Schema that Eyrie's documents are written in. */
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

/** Zod writes these bounds where an integer has none. */
const SAFE = Number.MAX_SAFE_INTEGER

/** What a value may be, in words. Schemas of their own are links to where they are described on the same page. */
export function typeOf(schema: Schema): string {
  if (schema.readOnly) return 'as it was read; changes nothing'
  if (schema.$ref) return link(schema.$ref.split('/').at(-1)!)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return unique(choices.map(typeOf)).join(' or ')
  if (schema.allOf) return unique(schema.allOf.map(typeOf)).join(' and ')
  if (schema.const !== undefined) return code(schema.const)
  if (schema.enum) return schema.enum.map(code).join(', ')
  if (Array.isArray(schema.type))
    return schema.type.map(type => typeOf(type === 'null' ? { type } : { ...schema, type })).join(' or ')
  if (schema.type === 'array') return listOf(schema)
  if (schema.type === 'object') return mapOf(schema)
  return [schema.type ?? 'anything', boundsOf(schema), formatOf(schema)].filter(Boolean).join(' ')
}

export const code = (value: unknown) => `\`${JSON.stringify(value)}\``

const anchor = (name: string) => `#${name.toLowerCase()}`

const link = (name: string) => `[${name}](${anchor(name)})`

const unique = (texts: string[]) => [...new Set(texts)]

function listOf({ items, prefixItems, minItems, maxItems }: Schema): string {
  if (prefixItems) return `[${prefixItems.map(typeOf).join(', ')}]`
  return ['list', range(minItems, maxItems, 'items'), items && `of ${typeOf(items)}`]
    .filter(Boolean)
    .join(' ')
}

function mapOf({ properties, additionalProperties }: Schema): string {
  if (properties || typeof additionalProperties !== 'object') return 'object'
  return `object of ${typeOf(additionalProperties)}`
}

function boundsOf(schema: Schema): string | undefined {
  if (schema.minLength !== undefined || schema.maxLength !== undefined)
    return range(schema.minLength, schema.maxLength, 'characters')
  const least = schema.minimum === -SAFE ? undefined : schema.minimum
  const most = schema.maximum === SAFE ? undefined : schema.maximum
  if (schema.exclusiveMinimum !== undefined)
    return [`above ${schema.exclusiveMinimum}`, most !== undefined && `up to ${most}`]
      .filter(Boolean)
      .join(', ')
  return range(least, most)
}

function range(least: number | undefined, most: number | undefined, unit = ''): string | undefined {
  if (least === undefined && most === undefined) return undefined
  const bounds =
    least === undefined ? `up to ${most}` : most === undefined ? `from ${least}` : `${least} to ${most}`
  return `(${[bounds, unit].filter(Boolean).join(' ')})`
}

const formatOf = ({ format }: Schema) => format && `(${format})`
