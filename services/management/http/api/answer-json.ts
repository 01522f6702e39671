import type { z } from 'zod'

/** Copies the part of a value that a schema names. */
type Select = (value: unknown) => unknown

/**
 * Returns a function that serializes answers as JSON. Objects are reduced to the fields that the schema names: rows of
 * the database may hold columns that the API does not show. Values are not validated again; they were validated when
 * they were stored.
 */
export function createSerializer(schema: z.ZodType): (value: unknown) => string {
  const select = selectorFor(schema)
  return value => JSON.stringify(select(value))
}

/** The parts of zod's schema definitions that matter here. */
interface Definition {
  type: string
  innerType: z.ZodType
  element: z.ZodType
  options: z.ZodType[]
  catchall?: z.ZodType
}

const definitionOf = (schema: z.ZodType) => schema.def as unknown as Definition

const identity: Select = value => value

function selectorFor(schema: z.ZodType): Select {
  const definition = definitionOf(schema)
  switch (definition.type) {
    case 'object':
      return isLoose(definition) ? identity : skipNullish(selectFields(schema as z.ZodObject))
    case 'array': {
      const select = selectorFor(definition.element)
      return select === identity ? identity : skipNullish(values => (values as unknown[]).map(select))
    }
    case 'optional':
    case 'nullable':
    case 'nonoptional':
      return selectorFor(definition.innerType)
    case 'default': {
      const select = selectorFor(definition.innerType)
      return value => (value === undefined ? schema.parse(undefined) : select(value))
    }
    case 'union':
      return skipNullish(selectVariant(definition.options, schema))
    // A pipe transforms the value, for example a `Date` into text.
    case 'pipe':
      return skipNullish(value => schema.parse(value))
    default:
      return identity
  }
}

const skipNullish =
  (select: Select): Select =>
  value =>
    value === null || value === undefined ? value : select(value)

const isLoose = ({ catchall }: Definition) =>
  catchall !== undefined && definitionOf(catchall).type !== 'never'

function selectFields({ shape }: z.ZodObject): Select {
  const fields = Object.entries(shape).map(
    ([name, schema]) => [name, selectorFor(schema as z.ZodType)] as const,
  )
  return value => {
    const selected: Record<string, unknown> = {}
    for (const [name, select] of fields) selected[name] = select((value as Record<string, unknown>)[name])
    return selected
  }
}

function selectVariant(options: z.ZodType[], union: z.ZodType): Select {
  const variants = options.map(schema => ({ schema, select: selectorFor(schema) }))
  return value => {
    const variant = variants.find(({ schema }) => matches(schema, value))
    return variant ? variant.select(value) : union.parse(value)
  }
}

/** Whether a value is of this variant. Arrays are recognized by their first element, objects by the names of their fields. */
function matches(schema: z.ZodType, value: unknown): boolean {
  const { type, element } = definitionOf(schema)
  if (type === 'array') return Array.isArray(value) && (value.length === 0 || matches(element, value[0]))
  if (type !== 'object') return schema.safeParse(value).success
  return Object.keys((schema as z.ZodObject).shape).every(name => name in (value as object))
}
