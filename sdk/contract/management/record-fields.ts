import { z } from 'zod'

/**
 * Fields that the records and queries of the management API have in common. Records are the rows of
 * its database, such as sites and devices.
 */

export const SECONDS_PER_DAY = 86_400

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/

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

/**
 * Id of a record in a request. If the record does not exist or the caller has no access to it, the
 * status of the response is 404: therefore an invalid id is reported as the id of an absent record.
 */
export const reference = (record: RecordName) =>
  z
    .string()
    // Postgres writes UUIDs in lower case.
    .toLowerCase()
    .min(1, { error: 'must not be empty', abort: true })
    .refine(id => UUID.test(id), { error: `no such ${record}`, params: { absent: true } })
    .meta({ format: 'uuid', record })

/** Postgres limits the number of parameters of a statement to 65535. */
const MAX_IDS = 10_000

/** Ids of distinct records in a request. */
export const referenceIds = (record: RecordName) =>
  z
    .array(reference(record))
    .max(MAX_IDS)
    .refine(ids => new Set(ids).size === ids.length, { error: 'ids must be unique' })

/** Id of a record in a response. */
export const recordId = z.uuid()

const MAX_TEXT_LENGTH = 4096

/**
 * Text in a request. Parsing stops if the text is too long, because patterns may
 * need quadratic time.
 */
export const text = z.string().max(MAX_TEXT_LENGTH, { abort: true })

/** Text that is not blank. */
export const name = text.refine(value => value.trim().length > 0, { error: 'must not be empty' })

/** A unique key. In UTF-8 it is short enough for a Postgres index. */
export const key = name.max(255)

/** Text that is empty or meets a condition; `error` says which one. */
export const emptyOr = (isValid: (value: string) => boolean, error: string) =>
  text.refine(value => value === '' || isValid(value), { error })

/** An integer that fits in a Postgres column of type `integer`. */
export const integer = z.int().min(-2_147_483_648).max(2_147_483_647)

export const jsonObject = z.record(z.string(), z.unknown())

/** A time in a response: RFC 3339 in UTC. A `Date` is converted. */
export const timestamp = z.preprocess(
  value => (value instanceof Date ? value.toISOString() : value),
  z.iso.datetime(),
)

/** A place on the earth, in degrees. */
export const geolocation = z.strictObject({
  lat: z.number().min(-90).max(90),
  long: z.number().min(-180).max(180),
})

const INTEGER = /^-?\d{1,15}$/

/** An integer in a query, where all values are text. Values above `max` are reduced to `max`. */
const integerParameter = (min: number, max: number) =>
  z.preprocess(
    // A value that is not an integer is left as it is, so that the schema rejects it.
    (value: number | string) => (INTEGER.test(String(value)) ? Number(value) : value),
    z
      .int()
      .min(min)
      .transform(value => Math.min(value, max)),
  )

const MAX_PAGE_SIZE = 1000
const DEFAULT_PAGE_SIZE = 100

type IntegerParameter = z.ZodDefault<ReturnType<typeof integerParameter>>

/** The query parameters `<prefix>_offset` and `<prefix>_limit` of a paginated list. */
export const pagination = <Prefix extends string>(prefix: Prefix) =>
  ({
    [`${prefix}_offset`]: integerParameter(0, Number.MAX_SAFE_INTEGER)
      .default(0)
      .meta({ type: 'integer', minimum: 0 }),
    [`${prefix}_limit`]: integerParameter(1, MAX_PAGE_SIZE)
      .default(DEFAULT_PAGE_SIZE)
      .meta({ type: 'integer', minimum: 1 }),
  }) as Record<`${Prefix}_offset` | `${Prefix}_limit`, IntegerParameter>
