import type { z } from 'zod'
import { JsonBytes } from './json-bytes.ts'

/** Writes what a schema names of a value. Returns whether that is anything. */
type Write = (value: unknown, json: JsonBytes) => boolean

interface Definition {
  type: string
  innerType: z.ZodType
  element: z.ZodType
  options: z.ZodType[]
  catchall?: z.ZodType
}

const definitionOf = (schema: z.ZodType) => schema.def as unknown as Definition

/**
 * The JSON of an answer: of its objects no more than the schema names. It is neither copied for that nor checked again,
 * which would take longer than everything else that is done for a long list: what the database holds was checked when it
 * came.
 */
export function jsonOf(schema: z.ZodType): (value: unknown) => Uint8Array<ArrayBuffer> {
  const write = writerOf(schema)
  return value => {
    const json = new JsonBytes()
    write(value, json)
    return json.done()
  }
}

function writerOf(schema: z.ZodType): Write {
  const { type } = definitionOf(schema)
  const write = writers[type]?.(definitionOf(schema), schema) ?? asItIs
  const isThere = (value: unknown) => value !== null && (value !== undefined || type === 'default')
  return write === asItIs ? write : (value, json) => (isThere(value) ? write : asItIs)(value, json)
}

const asItIs: Write = (value, json) => json.value(value)

const comma = Buffer.from(',')
const ofArray = Buffer.from('[]')
const ofObject = Buffer.from('{}')

type Making = (definition: Definition, schema: z.ZodType) => Write

const writers: Record<string, Making> = {
  object: ({ catchall }, schema) =>
    catchall && definitionOf(catchall).type !== 'never' ? asItIs : objectWriter(schema as z.ZodObject),
  array: ({ element }) => {
    const write = writerOf(element)
    return (values, json) => {
      const from = json.length
      for (const value of values as unknown[]) {
        json.literal(comma)
        if (!write(value, json)) json.value(null)
      }
      json.enclose(from, ofArray)
      return true
    }
  },
  optional: ({ innerType }) => writerOf(innerType),
  nullable: ({ innerType }) => writerOf(innerType),
  nonoptional: ({ innerType }) => writerOf(innerType),
  default: ({ innerType }, schema) => {
    const write = writerOf(innerType)
    return (value, json) => (value === undefined ? json.value(schema.parse(undefined)) : write(value, json))
  },
  union: ({ options }, schema) => {
    const choices = options.map(option => ({ option, write: writerOf(option) }))
    return (value, json) => {
      const choice = choices.find(({ option }) => fits(option, value))
      return choice ? choice.write(value, json) : json.value(schema.parse(value))
    }
  },
  // It makes something else of a value.
  pipe: (_, schema) => (value, json) => json.value(schema.parse(value)),
}

function objectWriter({ shape }: z.ZodObject): Write {
  const fields = Object.entries(shape).map(([name, schema]) => ({
    name,
    begin: Buffer.from(`,${JSON.stringify(name)}:`),
    write: writerOf(schema as z.ZodType),
  }))
  return (value, json) => {
    const from = json.length
    for (const { name, begin, write } of fields) {
      const before = json.length
      json.literal(begin)
      if (!write((value as Record<string, unknown>)[name], json)) json.cut(before)
    }
    json.enclose(from, ofObject)
    return true
  }
}

/** Whether a value is of this kind, as its first element and the names of its fields tell. */
function fits(schema: z.ZodType, value: unknown): boolean {
  const { type, element } = definitionOf(schema)
  if (type === 'array') return Array.isArray(value) && (value.length === 0 || fits(element, value[0]))
  if (type !== 'object') return schema.safeParse(value).success
  return Object.keys((schema as z.ZodObject).shape).every(name => name in (value as object))
}
