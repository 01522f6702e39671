import { z } from 'zod'

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/

/** Records that requests refer to by their ids. */
export type RecordName =
  | 'alert'
  | 'api_token'
  | 'channel'
  | 'customer'
  | 'device'
  | 'engine'
  | 'image'
  | 'notification'
  | 'organization'
  | 'pipeline'
  | 'role'
  | 'schedule'
  | 'session'
  | 'site'
  | 'source'
  | 'static_content'
  | 'usecase'
  | 'user'

/** A field that refers to a record: where there is none that the caller may see, the request answers 404. */
export const reference = (record: RecordName) =>
  z
    .string()
    // As Postgres writes them, so that one id is never two.
    .toLowerCase()
    .min(1, { error: 'may not be empty', abort: true })
    .refine(id => UUID.test(id), { error: `there is no such ${record}`, params: { absent: true } })
    .meta({ format: 'uuid', record })

/** More at once than anybody has, and fewer than the database takes in one query. */
const MOST_IDS = 10_000

export const referenceIds = (record: RecordName) =>
  z
    .array(reference(record))
    .max(MOST_IDS)
    .refine(ids => new Set(ids).size === ids.length, { error: 'an id is named twice' })

/** An id in an answer. */
export const recordId = z.uuid()

const TEXT_LENGTH = 4096

/** What is too long is looked at no further: a pattern may take the square of its length. */
export const text = z.string().max(TEXT_LENGTH, { abort: true })
/** Text that may not be blank. */
export const name = text.refine(value => value.trim().length > 0, { error: 'may not be empty' })
/** What tells a record from others of its kind: short enough for an index of Postgres, in any script. */
export const key = name.max(255)
export const integer = z.int().min(-2_147_483_648).max(2_147_483_647)
export const jsonObject = z.record(z.string(), z.unknown())

/** RFC 3339, UTC; a Date is written as one. */
export const timestamp = z.preprocess(
  given => (given instanceof Date ? given.toISOString() : given),
  z.iso.datetime(),
)

export const geolocation = z.strictObject({
  lat: z.number().min(-90).max(90),
  long: z.number().min(-180).max(180),
})

/** A whole number in a query, where everything is text. */
const decimal = (least: number, most: number) =>
  z.preprocess(
    (given: number | string) => (/^-?\d{1,15}$/.test(String(given)) ? Number(given) : given),
    z
      .int()
      .min(least)
      .transform(given => Math.min(given, most)),
  )

type Decimal = z.ZodDefault<ReturnType<typeof decimal>>

/** Offset and limit of a list's page, under the names that the operation gives them. */
export const pagination = <Prefix extends string>(prefix: Prefix) =>
  ({
    [`${prefix}_offset`]: decimal(0, Number.MAX_SAFE_INTEGER)
      .default(0)
      .meta({ type: 'integer', minimum: 0 }),
    [`${prefix}_limit`]: decimal(1, 1000).default(100).meta({ type: 'integer', minimum: 1 }),
  }) as Record<`${Prefix}_offset` | `${Prefix}_limit`, Decimal>
