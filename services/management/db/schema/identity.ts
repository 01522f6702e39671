import { pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { createdAt } from './columns.ts'
import { userId } from './user.ts'

/**
 * The account of a user at an identity provider. While the provider of this issuer is enabled, it
 * signs the user in, and no password does.
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
