import { bigint, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { createdAt, instant } from './columns.ts'
import { userId } from './user.ts'

/** The authenticator app of a user, whose codes are needed to sign in. */
export const totp = pgTable('totp', {
  user_id: userId().primaryKey(),
  /** Encrypted. */
  secret: text().notNull(),
  created_at: createdAt(),
  /** Null until the user has confirmed the app with a code. */
  confirmed_at: instant(),
  /** When the recovery codes were last replaced. */
  codes_created_at: instant(),
  /**
   * The time step of the last accepted code. A code of this step or of an earlier one
   * is not accepted again.
   */
  last_step: bigint({ mode: 'number' }).notNull().default(0),
})

/** A code with which a user who has lost the authenticator app can sign in once. */
export const recoveryCode = pgTable(
  'recovery_code',
  {
    user_id: userId(),
    /** SHA-256. */
    code_hash: text().notNull(),
    spent_at: instant(),
  },
  table => [primaryKey({ columns: [table.user_id, table.code_hash] })],
)

/** A sign-in with a correct password that waits for a code. */
export const signInChallenge = pgTable('sign_in_challenge', {
  /** SHA-256. */
  challenge_hash: text().primaryKey(),
  user_id: userId(),
  expires_at: instant().notNull(),
})
