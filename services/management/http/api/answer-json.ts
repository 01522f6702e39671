import type { z } from 'zod'
import { JsonBytes, type Write } from './json-bytes.ts'

interface Definition {
  type: string
  innerType: z.ZodType
  element: z.ZodType
  options: z.ZodType[]
  catchall?: z.ZodType
}

const FIRST_BYTES = 16 * 1024
/** An answer is about as long as the last one. */
const SPARE = 1.25

const definitionOf = (schema: z.ZodType) => schema.def as unknown as Definition

/**
 * The JSON of an answer: of its objects no more than the schema names. It is neither copied for that nor checked again,
 * which would take longer than everything else that is done for a long list: what the database holds was checked when it
 * came.
 */
export function jsonOf(schema: z.ZodType): (value: unknown) => Uint8Array<ArrayBuffer> {
  const write = writerOf(schema, new Map())
  let expected = FIRST_BYTES
  return value => {
    const json = new JsonBytes(expected)
    write(value, json)
    // Memory outside of the heap has all of the heap collected early: no more than it takes.
    expected = Math.ceil(json.length * SPARE)
    return json.done()
  }
}

/** Writers by the schemas of one answer, and whether such a schema stands at several places of it. */
type Parts = Map<z.ZodType, { write: Write; isRepeated: boolean }>

function writerOf(schema: z.ZodType, parts: Parts): Write {
  const met = parts.get(schema)
  if (met) {
    met.isRepeated = true
    return met.write
  }
  const definition = definitionOf(schema)
  const { type } = definition
  const isThere = (value: unknown) => value !== null && (value !== undefined || type === 'default')
  const whole = writers[type]?.(definition, schema, parts) ?? asItIs
  const part = { write: asItIs, isRepeated: false }
  if (whole !== asItIs)
    part.write = (value, json) => {
      if (!isThere(value)) return asItIs(value, json)
      // Where it may be the same object, it is not written once more.
      if (type === 'object' && part.isRepeated) return json.once(value as object, whole)
      return whole(value, json)
    }
  parts.set(schema, part)
  return part.write
}

const asItIs: Write = (value, json) => json.value(value)

const comma = Buffer.from(',')
const ofArray = Buffer.from('[]')
const ofObject = Buffer.from('{}')

type Making = (definition: Definition, schema: z.ZodType, parts: Parts) => Write

const writers: Record<string, Making> = {
  object: ({ catchall }, schema, parts) =>
    catchall && definitionOf(catchall).type !== 'never' ? asItIs : objectWriter(schema as z.ZodObject, parts),
  array: ({ element }, _, parts) => {
    const write = writerOf(element, parts)
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
  optional: ({ innerType }, _, parts) => writerOf(innerType, parts),
  nullable: ({ innerType }, _, parts) => writerOf(innerType, parts),
  nonoptional: ({ innerType }, _, parts) => writerOf(innerType, parts),
  default: ({ innerType }, schema, parts) => {
    const write = writerOf(innerType, parts)
    return (value, json) => (value === undefined ? json.value(schema.parse(undefined)) : write(value, json))
  },
  union: ({ options }, schema, parts) => {
    const choices = options.map(option => ({ option, write: writerOf(option, parts) }))
    return (value, json) => {
      const choice = choices.find(({ option }) => fits(option, value))
      return choice ? choice.write(value, json) : json.value(schema.parse(value))
    }
  },
  // It makes something else of a value.
  pipe: (_, schema) => (value, json) => json.value(schema.parse(value)),
}

function objectWriter({ shape }: z.ZodObject, parts: Parts): Write {
  const fields = Object.entries(shape).map(([name, schema]) => ({
    name,
    begin: Buffer.from(`,${JSON.stringify(name)}:`),
    write: writerOf(schema as z.ZodType, parts),
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
