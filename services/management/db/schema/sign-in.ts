import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { createdAt, instant, key, optionalText } from './columns.ts'
import { userId } from './user.ts'

/**
 * A session of a signed-in user. The client extends it with a refresh token, which can be used
 * once: the response contains the next one.
 */
export const session = pgTable(
  'session',
  {
    session_id: key().primaryKey(),
    user_id: userId(),
    /** SHA-256 of the token part that is common to all refresh tokens of the session. */
    family_hash: text().notNull().unique(),
    /** SHA-256 of the token part that is unique to the current refresh token. */
    refresh_hash: text().notNull(),
    address: optionalText(),
    user_agent: optionalText(),
    created_at: createdAt(),
    used_at: instant().notNull().defaultNow(),
    expires_at: instant().notNull(),
    revoked_at: instant(),
  },
  table => [index('session_by_user').on(table.user_id)],
)

/** An API token for programs. It has the rights of its user, restricted to its scopes. */
export const apiToken = pgTable(
  'api_token',
  {
    token_id: key().primaryKey(),
    user_id: userId(),
    name: text().notNull(),
    scopes: text().array().notNull(),
    secret_hash: text().notNull().unique(),
    created_at: createdAt(),
    used_at: instant(),
    expires_at: instant(),
  },
  table => [index('api_token_by_user').on(table.user_id)],
)

/**
 * Counts the attempts that are limited: failed sign-ins, wrong codes of an authenticator
 * app, and registrations.
 */
export const signInFailure = pgTable('sign_in_failure', {
  /**
   * Whose attempts are counted: `account:<email> <network>`, `address:<network>`, `code:<user id>`
   * or `register:<network>`.
   */
  subject: text().primaryKey(),
  failures: integer().notNull(),
  /** Time of the last attempt. For registrations, of the first one in the current hour. */
  last_at: instant().notNull(),
  blocked_until: instant(),
})
