import { text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { v7 } from 'uuid'

// Column types that several tables of the schema share.

/** A UUID (version 7) that sorts by creation time, so that new rows are adjacent in an index. */
export const key = () => uuid().$defaultFn(() => v7())

/** Text that is empty by default. */
export const optionalText = () => text().notNull().default('')

/** A point in time, which drizzle reads and writes as a `Date`. */
export const instant = () => timestamp({ withTimezone: true, mode: 'date' })

export const createdAt = () => instant().notNull().defaultNow()

/**
 * Returns whether Postgres can store a text: `text` columns reject the character NUL
 * and lone surrogates.
 */
export const isStorable = (value: string): boolean => !value.includes('\0') && value.isWellFormed()
