import { text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { v7 } from 'uuid'

/** A primary key that sorts by creation time, so that new rows are adjacent in an index. */
export const key = () => uuid().$defaultFn(() => v7())

/** Text with the empty string as its default. */
export const optionalText = () => text().notNull().default('')

export const instant = () => timestamp({ withTimezone: true, mode: 'date' })

export const createdAt = () => instant().notNull().defaultNow()

/** Whether Postgres can store a text: it accepts every character but NUL, and no lone surrogates. */
export const isStorable = (value: string): boolean => !value.includes('\0') && value.isWellFormed()
