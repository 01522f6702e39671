import { text, timestamp, uuid } from 'drizzle-orm/pg-core'
import { v7 } from 'uuid'

/** Keys sort by the time of their making, so that new rows lie side by side in an index. */
export const key = () => uuid().$defaultFn(() => v7())

/** Text that is empty where nothing was said. */
export const optionalText = () => text().notNull().default('')

export const instant = () => timestamp({ withTimezone: true, mode: 'date' })

export const madeAt = () => instant().notNull().defaultNow()
