import { EyrieError } from '@eyrie/contract'
import { toNetwork } from '@eyrie/kit/client-network'
import { eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { user } from '../db/schema/index.ts'
import { admitUser, assertMaySignIn, lockUser } from './admit-user.ts'
import { isSignedInByProvider } from './oidc/identities.ts'
import type { Passwords } from './passwords.ts'
import type { SessionClient, StartedSession } from './sessions.ts'
import { CodeRequired, createChallenge } from './sign-in-challenge.ts'
import {
  countAttempt,
  deleteExpiredAttempts,
  forgiveAttempt,
  listSignInSubjects,
} from './sign-in-limits.ts'
import { findAuthenticator } from './totp/authenticator.ts'

const OPERATION = '/user/auth'

export interface Credentials {
  email: string
  password: string
}

export interface SignInDependencies {
  passwords: Passwords
  now(): Date
}

/** Returns the form in which e-mail addresses are compared. */
export const normalizeEmail = (email: string) => email.trim().toLowerCase()

/** Returns the SQL condition that a user has this e-mail address. */
export const matchesEmail = (email: string) => eq(sql`lower(${user.email})`, normalizeEmail(email))

/**
 * Checks the credentials and starts a session. Throws:
 * - `TooManyAttempts` while the network or the account is blocked;
 * - `EyrieError` (`id`) if the e-mail address or the password is wrong, after the
 *   same time in both cases;
 * - with the correct password, `EyrieError` (`rights`) if the user is inactive, not verified, or
 *   signs in with an identity provider;
 * - with the correct password, `CodeRequired` if the user has an authenticator app.
 */
export async function signIn(
  database: Database,
  { email, password }: Credentials,
  client: SessionClient,
  { passwords, now }: SignInDependencies,
): Promise<StartedSession> {
  const subjects = listSignInSubjects(normalizeEmail(email), toNetwork(client.address))
  const stored = await database.system(OPERATION, async tx => {
    await deleteExpiredAttempts(tx, now())
    for (const subject of subjects) await countAttempt(tx, subject, now())
    const [match] = await tx.select().from(user).where(matchesEmail(email))
    return match
  })

  // Hashing takes long, so it happens between the two transactions.
  const isCorrect = await passwords.verify(stored?.password_hash, password)
  if (!stored || !isCorrect) throw wrongCredentials()

  const result = await database.system(OPERATION, async tx => {
    await assertMayUsePassword(tx, stored)
    const isCodeRequired = (await findAuthenticator(tx, stored.user_id)) !== undefined
    // If a code is required, the attempt on the account is forgiven only after the correct code.
    // Otherwise a client with the password could try any number of codes.
    const forgivenSubjects = isCodeRequired
      ? subjects.filter(({ kind }) => kind === 'address')
      : subjects
    for (const subject of forgivenSubjects) await forgiveAttempt(tx, subject)
    return isCodeRequired
      ? { challenge: await createChallenge(tx, stored.user_id, now()) }
      : { session: await admitUser(tx, stored.user_id, client, now()) }
  })
  if (result.challenge) throw new CodeRequired(result.challenge)
  return result.session
}

/**
 * Locks a user whose password was correct when `stored` was read. Throws the errors of `signIn`
 * about the user.
 */
async function assertMayUsePassword(
  tx: Transaction,
  stored: { user_id: string; password_hash: string },
): Promise<void> {
  const current = await lockUser(tx, stored.user_id)
  // The password may have been changed since it was read.
  if (current?.password_hash !== stored.password_hash) throw wrongCredentials()
  assertMaySignIn(current)
  if (await isSignedInByProvider(tx, stored.user_id)) {
    throw new EyrieError(
      'rights',
      'your identity provider signs you in: use its button on the sign-in page',
    )
  }
}

const wrongCredentials = () =>
  new EyrieError('id', 'no user has this e-mail address and this password')
