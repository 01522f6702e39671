import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { pack } from 'tar-stream'
import { z } from 'zod'

/** The subset of JSON Schema used by the contract. */
interface Schema {
  $ref?: string
  $defs?: Record<string, Schema>
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  type?: string
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  items?: Schema
  minItems?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  examples?: unknown[]
  /** The string is the id of a record of this kind. */
  record?: string
}

const MAX_TEXT_LENGTH = 40
const MAX_LIST_LENGTH = 4

/** Valid values that random generation would rarely produce, by field name. */
const plausibleValues: Record<string, fc.Arbitrary<unknown>> = {
  address: fc.constantFrom(
    'rtsp://camera/1',
    'rtsp://user:***@camera/1',
    'test://ball',
    'inf://nothing',
  ),
  url: fc.constantFrom('rtsp://camera/2', 'rtsp://user:word@camera/2', 'test://smpte'),
  name: fc.constantFrom('infer', 'image-resize', 'object-tracking', 'line-crossing'),
  version: fc.constantFrom('1.0.0', '1.0.1'),
  customer: fc.constantFrom('community', 'acme'),
  subscription: fc.constantFrom('community', 'gold'),
  pool: fc.constantFrom('community', 'box'),
  usecase: fc.constant('line-crossing'),
  usecase_key: fc.constant('line-crossing'),
  pipeline_usecase: fc.constant('line-crossing'),
  stream_key: fc.constant('line-crossing'),
  alert_threshold: fc.constantFrom('5', '-0.5', '1e3'),
  engine_timeout: fc.constantFrom('500ms', '5s', '1m'),
  is_default: fc.constantFrom('true', 'false'),
  is_secret: fc.constantFrom('true', 'false'),
  site_timezone: fc.constantFrom('UTC', 'Europe/Berlin'),
  report_time: fc.constantFrom('07:00', '23:59'),
  report_to: fc.constantFrom(['office@example.com'], ['a@example.com', 'b@example.com']),
  occurrence_activate_cron: fc.constantFrom('0 8 * * mon-fri', '*/5 * * * *'),
  occurrence_deactivate_cron: fc.constant('0 18 * * *'),
  occurrence_start_time: fc.constantFrom('08:00', '2026-01-31T08:00:00Z'),
  occurrence_end_time: fc.constantFrom('18:00', '2026-02-01T08:00:00Z'),
}

const file = fc.record({
  name: fc.oneof(
    fc.constantFrom('plugin.json', 'p/plugin.json', 'p/element.ts', '../x', '/x', 'a/b', ''),
    fc.string({ maxLength: 20 }),
  ),
  content: fc
    .oneof(
      fc.json(),
      fc.constant('{"name":"motion","version":"1.0.0","license":"MIT","sdk":1,"entry":"e.ts"}'),
    )
    .map(text => Buffer.from(text)),
})

/** Any Unicode character, a lone surrogate, or NUL. */
const anyUnit = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  fc.constantFrom('\ud800', '\0'),
)

async function packFiles(files: readonly { name: string; content: Buffer }[]): Promise<Uint8Array> {
  const archive = pack()
  for (const { name, content } of files) archive.entry({ name, mtime: new Date(0) }, content)
  archive.finalize()
  return new Uint8Array(gzipSync(await buffer(archive)))
}

/**
 * tar-stream packs asynchronously, but arbitraries generate synchronously: the archives
 * are packed in advance.
 */
const archives = await Promise.all(
  fc
    .sample(fc.array(file, { maxLength: MAX_LIST_LENGTH }), { numRuns: 200, seed: 1 })
    .map(packFiles),
)

/** Gzipped tar archives, complete or truncated, and arbitrary bytes. */
const packages: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc
    .tuple(fc.constantFrom(...archives), fc.constantFrom(0, 20))
    .map(([archive, missing]) => archive.slice(0, -missing || undefined)),
  fc.uint8Array({ maxLength: 100 }),
)

/**
 * Mostly valid values of a zod schema, before (`input`) or after (`output`) its transformations.
 */
export function createArbitrary(
  schema: z.ZodType,
  io: 'input' | 'output' = 'input',
): fc.Arbitrary<unknown> {
  const root = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Schema
  return createFromJsonSchema(root, root.$defs ?? {})
}

/** Mostly valid values for each field of an object schema. */
export function createFieldArbitraries(schema: z.ZodObject): Record<string, fc.Arbitrary<unknown>> {
  const entries = Object.entries(schema.shape).map(([name, field]) => [
    name,
    preferPlausible(name, createArbitrary(field as z.ZodType, 'output')),
  ])
  return Object.fromEntries(entries)
}

/** Prefers the plausible values of a field, if any. */
function preferPlausible(name: string, arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const plausible = plausibleValues[name]
  return plausible ? fc.oneof({ weight: 3, arbitrary: plausible }, arbitrary) : arbitrary
}

function createFromJsonSchema(
  { examples, ...schema }: Schema,
  defs: Record<string, Schema>,
): fc.Arbitrary<unknown> {
  if (examples) {
    return fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...examples) },
      createFromJsonSchema(schema, defs),
    )
  }
  if (schema.$ref) {
    return createFromJsonSchema(defs[schema.$ref.replace('#/$defs/', '')] ?? {}, defs)
  }
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const variants = schema.anyOf ?? schema.oneOf
  if (variants) return fc.oneof(...variants.map(variant => createFromJsonSchema(variant, defs)))
  switch (schema.type) {
    case 'object':
      return createObject(schema, defs)
    case 'array':
      return fc.array(createFromJsonSchema(schema.items ?? {}, defs), {
        minLength: schema.minItems ?? 0,
        maxLength: MAX_LIST_LENGTH,
      })
    case 'string':
      return schema.format === 'binary' ? packages : createText(schema)
    case 'integer':
      return createInteger(schema)
    case 'number':
      return fc.double({
        min: schema.minimum ?? schema.exclusiveMinimum ?? -10,
        max: Math.min(schema.maximum ?? 100, 100),
        noNaN: true,
      })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return fc.jsonValue()
  }
}

/** Small numbers, because most ids are small. A larger minimum of the schema is respected. */
function createInteger({ minimum = -10, maximum = 20 }: Schema) {
  return fc.integer({ min: minimum, max: Math.max(minimum, Math.min(maximum, 20)) })
}

function createObject(schema: Schema, defs: Record<string, Schema>): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = schema
  if (typeof additionalProperties === 'object') {
    return fc.dictionary(
      fc.string({ maxLength: 10 }),
      createFromJsonSchema(additionalProperties, defs),
      {
        maxKeys: 3,
      },
    )
  }
  const fields = Object.entries(properties).map(([name, field]) => {
    return [name, preferPlausible(name, createFromJsonSchema(field, defs))] as const
  })
  return fc.record(Object.fromEntries(fields), {
    requiredKeys: required.filter(name => name in properties),
  })
}

/** Placeholder for the id of an existing record; the fuzzer replaces it before sending. */
export const toPlaceholder = (record: string) => `@${record}@`

function createText({
  pattern,
  record,
  minLength = 0,
  maxLength = MAX_TEXT_LENGTH,
}: Schema): fc.Arbitrary<string> {
  if (record) {
    return fc.oneof(
      { weight: 8, arbitrary: fc.constant(toPlaceholder(record)) },
      fc.uuid(),
      fc.string(),
    )
  }
  if (pattern) return fc.stringMatching(new RegExp(pattern), { size: '-1' })
  const length = { minLength, maxLength: Math.min(maxLength, MAX_TEXT_LENGTH) }
  return fc.oneof(
    { weight: 8, arbitrary: fc.string(length) },
    fc.string({ ...length, unit: anyUnit }),
  )
}
