import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { instant, key, madeAt, optionalText } from './columns.ts'
import { ofUser } from './user.ts'

/** A sign-in that lasts by refresh tokens, each of which is good for one use. */
export const session = pgTable(
  'session',
  {
    session_id: key().primaryKey(),
    user_id: ofUser(),
    /** SHA-256 of the half that all refresh tokens of the session share, and of the half that is good now. */
    family_hash: text().notNull().unique(),
    refresh_hash: text().notNull(),
    address: optionalText(),
    user_agent: optionalText(),
    created_at: madeAt(),
    used_at: madeAt(),
    expires_at: instant().notNull(),
    revoked_at: instant(),
  },
  table => [index('session_by_user').on(table.user_id)],
)

/** A token for programs: at most its user's rights, narrowed by its scopes. */
export const apiToken = pgTable(
  'api_token',
  {
    token_id: key().primaryKey(),
    user_id: ofUser(),
    name: text().notNull(),
    scopes: text().array().notNull(),
    secret_hash: text().notNull().unique(),
    created_at: madeAt(),
    used_at: instant(),
    expires_at: instant(),
  },
  table => [index('api_token_by_user').on(table.user_id)],
)

/** Sign-ins that failed, by account and by address, until one succeeds. */
export const signInFailure = pgTable('sign_in_failure', {
  /** `account:<email>` or `address:<ip>`. */
  subject: text().primaryKey(),
  failures: integer().notNull(),
  last_at: instant().notNull(),
  blocked_until: instant(),
})
