import { pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

/** An e-mail address whose owner has unsubscribed from digests. */
export const unsubscribed = pgTable('unsubscribed', {
  /** In lower case. */
  address: text().primaryKey(),
  unsubscribed_at: instant().notNull().defaultNow(),
})
