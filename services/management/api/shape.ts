import type { z } from 'zod'

/** Gives of a value what a schema names. */
type Shape = (value: unknown) => unknown

interface Definition {
  type: string
  innerType: z.ZodType
  element: z.ZodType
  options: z.ZodType[]
  catchall?: z.ZodType
}

const definitionOf = (schema: z.ZodType) => schema.def as unknown as Definition

/**
 * What an answer shows of a value: of its objects no more than the schema names. It is not checked again, which would take
 * longer than everything else that is done for a long list: what the database holds was checked when it came.
 */
export const shapeOf = (schema: z.ZodType): Shape => partOf(schema) ?? (value => value)

/** Undefined where a value is shown as it is. */
function partOf(schema: z.ZodType): Shape | undefined {
  const { type } = definitionOf(schema)
  const shape = shapes[type]?.(definitionOf(schema), schema)
  const isThere = (value: unknown) => value !== null && (value !== undefined || type === 'default')
  return shape && (value => (isThere(value) ? shape(value) : value))
}

type Making = (definition: Definition, schema: z.ZodType) => Shape | undefined

const shapes: Record<string, Making> = {
  object: ({ catchall }, schema) =>
    catchall && definitionOf(catchall).type !== 'never' ? undefined : objectShape(schema as z.ZodObject),
  array: ({ element }) => {
    const part = partOf(element)
    return part && (values => (values as unknown[]).map(part))
  },
  optional: ({ innerType }) => partOf(innerType),
  nullable: ({ innerType }) => partOf(innerType),
  nonoptional: ({ innerType }) => partOf(innerType),
  default: ({ innerType }, schema) => {
    const part = partOf(innerType) ?? (value => value)
    return value => (value === undefined ? schema.parse(undefined) : part(value))
  },
  union: ({ options }, schema) => {
    const choices = options.map(option => ({ option, part: shapeOf(option) }))
    return value => (choices.find(({ option }) => fits(option, value))?.part ?? schema.parse)(value)
  },
  // It makes something else of a value.
  pipe: (_, schema) => value => schema.parse(value),
}

function objectShape({ shape }: z.ZodObject): Shape {
  const fields = Object.entries(shape).map(([name, schema]) => ({ name, part: partOf(schema as z.ZodType) }))
  return value => {
    const given = value as Record<string, unknown>
    const shown: Record<string, unknown> = {}
    for (const { name, part } of fields) {
      const field = given[name]
      const there = part ? part(field) : field
      if (there !== undefined) shown[name] = there
    }
    return shown
  }
}

/** Whether a value is of this kind, as its first element and the names of its fields tell. */
function fits(schema: z.ZodType, value: unknown): boolean {
  const { type, element } = definitionOf(schema)
  if (type === 'array') return Array.isArray(value) && (value.length === 0 || fits(element, value[0]))
  if (type !== 'object') return schema.safeParse(value).success
  return Object.keys((schema as z.ZodObject).shape).every(name => name in (value as object))
}
