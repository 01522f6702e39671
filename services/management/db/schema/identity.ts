import { pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { createdAt } from './columns.ts'
import { userId } from './user.ts'

/**
 * The account of a user at an identity provider, which signs the user in. Such a
 * user has no password.
 */
export const userIdentity = pgTable(
  'user_identity',
  {
    issuer: text().notNull(),
    /** Name of the account at the issuer, which never changes. */
    subject: text().notNull(),
    user_id: userId().unique(),
    created_at: createdAt(),
  },
  table => [primaryKey({ columns: [table.issuer, table.subject] })],
)
