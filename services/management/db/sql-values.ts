import { type SQL, sql } from 'drizzle-orm'
import { formatTextArray } from './text-array.ts'

// Values in the SQL of a query. Each is one text parameter with its type. Drizzle would expand a
// JavaScript array to a list of parameters.

export const textArray = (values: readonly string[]): SQL => sql`${formatTextArray(values)}::text[]`

export const uuidArray = (ids: readonly string[]): SQL => sql`${formatTextArray(ids)}::uuid[]`

/** Converts times in epoch ms to a Postgres array of timestamps. */
export const timestampArray = (timesMs: readonly number[]): SQL =>
  sql`${formatTextArray(timesMs.map(ms => new Date(ms).toISOString()))}::timestamptz[]`

/** Converts a time, as a `Date` or in epoch ms, to a Postgres timestamp. */
export const toTimestamp = (time: Date | number): SQL =>
  sql`${new Date(time).toISOString()}::timestamptz`
