import { z } from 'zod'

/**
 * Fields that the records and queries of the management API have in common. Records are the rows of
 * its database, such as sites and devices.
 */

export const SECONDS_PER_DAY = 86_400

// Ids of records

/** Types of records that requests reference by id. */
export type RecordName =
  | 'alert'
  | 'api_token'
  | 'calendar'
  | 'channel'
  | 'customer'
  | 'delivery'
  | 'device'
  | 'engine'
  | 'image'
  | 'incident'
  | 'join_token'
  | 'notification'
  | 'organization'
  | 'pipeline'
  | 'push_subscription'
  | 'report_schedule'
  | 'role'
  | 'schedule'
  | 'schedule_exception'
  | 'session'
  | 'site'
  | 'snooze'
  | 'source'
  | 'static_content'
  | 'system_alert'
  | 'usecase'
  | 'user'

/** A UUID in lower case, as Postgres writes it. */
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/

/**
 * Id of a record in a request. A record that does not exist and a record that the caller may not
 * access result in the same response, 404. Text that is not a UUID cannot be the id of a record,
 * and has this response, too: the parameter `absent` of the issue requests it.
 */
export const reference = (record: RecordName) =>
  z
    .string()
    .toLowerCase()
    .min(1, { error: 'must not be empty', abort: true })
    .refine(id => UUID.test(id), { error: `no such ${record}`, params: { absent: true } })
    .meta({ format: 'uuid', record })

/** One statement can contain all ids: Postgres limits its parameters to 65535. */
const MAX_IDS = 10_000

/** Ids of different records in a request. */
export const referenceIds = (record: RecordName) =>
  z
    .array(reference(record))
    .max(MAX_IDS)
    .refine(ids => new Set(ids).size === ids.length, { error: 'ids must be unique' })

/** Id of a record in a response. */
export const recordId = z.uuid()

// Texts

const MAX_TEXT_LENGTH = 4096

/**
 * Text in a request. If it is too long, no further check follows: the regular expressions of some
 * fields need quadratic time.
 */
export const text = z.string().max(MAX_TEXT_LENGTH, { abort: true })

/** Text that is not blank. */
export const name = text.refine(value => value.trim().length > 0, { error: 'must not be empty' })

/** A key that a caller chooses for a record. Short enough for a Postgres index in UTF-8. */
export const key = name.max(255)

/** Text that is empty or valid. `error` says what is valid. */
export const emptyOr = (isValid: (value: string) => boolean, error: string) =>
  text.refine(value => value === '' || isValid(value), { error })

// Numbers, times and other values

/** An integer that fits in a Postgres column of type `integer`. */
export const integer = z.int().min(-2_147_483_648).max(2_147_483_647)

/** A JSON object with any fields. */
export const jsonObject = z.record(z.string(), z.unknown())

/** A time in a response, as RFC 3339 in UTC. A `Date` from the database is converted. */
export const timestamp = z.preprocess(
  value => (value instanceof Date ? value.toISOString() : value),
  z.iso.datetime(),
)

/** A place on the earth, in degrees. */
export const geolocation = z.strictObject({
  lat: z.number().min(-90).max(90),
  long: z.number().min(-180).max(180),
})

// Pagination

/** An integer that a number represents exactly. */
const INTEGER = /^-?\d{1,15}$/

/** Converts the text of an integer to a number. Returns any other value unchanged. */
const textToInteger = (value: number | string) =>
  INTEGER.test(String(value)) ? Number(value) : value

/** An integer in a query, where all values are text. Values above `max` are reduced to `max`. */
const integerParameter = (min: number, max: number) =>
  z.preprocess(
    textToInteger,
    z
      .int()
      .min(min)
      .transform(value => Math.min(value, max)),
  )

type IntegerParameter = z.ZodDefault<ReturnType<typeof integerParameter>>

const MAX_PAGE_SIZE = 1000
const DEFAULT_PAGE_SIZE = 100

/**
 * The query parameters of a paginated list: `<prefix>_offset`, the number of records to skip, and
 * `<prefix>_limit`, the maximum number of records to return.
 */
export const pagination = <Prefix extends string>(prefix: Prefix) =>
  ({
    [`${prefix}_offset`]: integerParameter(0, Number.MAX_SAFE_INTEGER)
      .default(0)
      .meta({ type: 'integer', minimum: 0 }),
    [`${prefix}_limit`]: integerParameter(1, MAX_PAGE_SIZE)
      .default(DEFAULT_PAGE_SIZE)
      .meta({ type: 'integer', minimum: 1 }),
    // TypeScript does not infer the names of computed properties.
  }) as Record<`${Prefix}_offset` | `${Prefix}_limit`, IntegerParameter>
