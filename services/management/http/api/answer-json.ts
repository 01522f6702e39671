import type { z } from 'zod'

/**
 * Returns a function that serializes responses as JSON. Objects are reduced to the fields in the
 * schema, because database rows may have columns that the API does not show. Values are not
 * validated again: they were validated before they were stored.
 *
 * Example: with the schema `z.object({ name: z.string() })`, the row `{ name: 'a', secret: 'b' }`
 * becomes `{"name":"a"}`.
 */
export function createSerializer(schema: z.ZodType): (value: unknown) => string {
  const select = createSelector(schema)
  return value => JSON.stringify(select(value))
}

/** Returns the part of a value that a schema describes. */
type Selector = (value: unknown) => unknown

/** The members of Zod's schema definitions that are used here. */
interface Definition {
  type: string
  innerType: z.ZodType
  element: z.ZodType
  options: z.ZodType[]
  catchall?: z.ZodType
}

const getDefinition = (schema: z.ZodType) => schema.def as unknown as Definition

const identity: Selector = value => value

/** Compiles a schema once, so that serializing a response does not inspect the schema again. */
function createSelector(schema: z.ZodType): Selector {
  const definition = getDefinition(schema)
  switch (definition.type) {
    case 'object':
      return isLoose(definition)
        ? identity
        : skipNullish(createFieldSelector(schema as z.ZodObject))
    case 'array': {
      const select = createSelector(definition.element)
      // An array whose elements are serialized as they are needs no copy.
      if (select === identity) return identity
      return skipNullish(values => (values as unknown[]).map(select))
    }
    case 'optional':
    case 'nullable':
    case 'nonoptional':
      return createSelector(definition.innerType)
    case 'default': {
      const select = createSelector(definition.innerType)
      return value => (value === undefined ? schema.parse(undefined) : select(value))
    }
    case 'union':
      return skipNullish(createVariantSelector(definition.options, schema))
    // A pipe transforms the value, for example a `Date` into text.
    case 'pipe':
      return skipNullish(value => schema.parse(value))
    default:
      return identity
  }
}

/** Returns a selector that returns null and undefined unchanged. */
function skipNullish(select: Selector): Selector {
  return value => (value === null || value === undefined ? value : select(value))
}

/** Returns whether an object schema admits additional fields, which are then serialized too. */
const isLoose = ({ catchall }: Definition) =>
  catchall !== undefined && getDefinition(catchall).type !== 'never'

/** Selects the fields of an object that its schema names. */
function createFieldSelector({ shape }: z.ZodObject): Selector {
  const selectors = new Map<string, Selector>()
  for (const [name, schema] of Object.entries(shape)) {
    selectors.set(name, createSelector(schema as z.ZodType))
  }

  return value => {
    const object = value as Record<string, unknown>
    const selected: Record<string, unknown> = {}
    for (const [name, select] of selectors) selected[name] = select(object[name])
    return selected
  }
}

/** Selects by the variant of a union that a value matches. */
function createVariantSelector(options: z.ZodType[], union: z.ZodType): Selector {
  const variants = options.map(schema => ({ schema, select: createSelector(schema) }))
  return value => {
    const variant = variants.find(({ schema }) => matches(schema, value))
    return variant ? variant.select(value) : union.parse(value)
  }
}

/**
 * Recognizes the variant of an array by its first element, and the variant of an
 * object by its field names.
 */
function matches(schema: z.ZodType, value: unknown): boolean {
  const { type, element } = getDefinition(schema)
  if (type === 'array') {
    return Array.isArray(value) && (value.length === 0 || matches(element, value[0]))
  }
  if (type !== 'object') return schema.safeParse(value).success
  return Object.keys((schema as z.ZodObject).shape).every(name => name in (value as object))
}
