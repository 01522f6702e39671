import { EyrieError } from '@eyrie/contract'
import type { SignInChallenge } from '@eyrie/contract/management/index'
import { and, eq, gt, lt } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { signInChallenge, user } from '../db/schema/index.ts'
import { generateSecret, hashSecret } from './opaque-token.ts'

// A challenge connects the two steps of a sign-in with an authenticator app: it proves that the
// client has sent the correct password, and grants nothing else.

const CHALLENGE_SECONDS = 300

/**
 * The password is correct, and a code is required too. The field `value` of the error
 * contains the challenge.
 */
export class CodeRequired extends EyrieError {
  constructor(challenge: SignInChallenge) {
    super('auth', 'a code of your authenticator app is required: send it with the challenge', {
      value: challenge,
    })
  }
}

/** Stores a challenge for a user, whose password was correct. */
export async function createChallenge(
  tx: Transaction,
  userId: string,
  now: Date,
): Promise<SignInChallenge> {
  await tx.delete(signInChallenge).where(lt(signInChallenge.expires_at, now))
  const challenge = generateSecret()
  const expiresAt = new Date(now.getTime() + CHALLENGE_SECONDS * 1000)
  await tx
    .insert(signInChallenge)
    .values({ challenge_hash: hashSecret(challenge), user_id: userId, expires_at: expiresAt })
  return { challenge, expires_in: CHALLENGE_SECONDS }
}

/**
 * Returns the user of a challenge. Throws `EyrieError` (`auth`) if it has expired or was used
 * before.
 */
export async function findChallengedUser(tx: Transaction, challenge: string, now: Date) {
  const [found] = await tx
    .select({ user_id: user.user_id, email: user.email })
    .from(signInChallenge)
    .innerJoin(user, eq(user.user_id, signInChallenge.user_id))
    .where(
      and(
        eq(signInChallenge.challenge_hash, hashSecret(challenge)),
        gt(signInChallenge.expires_at, now),
      ),
    )
  if (!found) throw expiredChallenge()
  return found
}

/**
 * Deletes a challenge, so that it cannot be used again. Throws `EyrieError` (`auth`)
 * if it was used before.
 */
export async function spendChallenge(tx: Transaction, challenge: string): Promise<void> {
  const deleted = await tx
    .delete(signInChallenge)
    .where(eq(signInChallenge.challenge_hash, hashSecret(challenge)))
    .returning({ user_id: signInChallenge.user_id })
  if (deleted.length === 0) throw expiredChallenge()
}

const expiredChallenge = () =>
  new EyrieError('auth', 'this sign-in has expired: start again with your password')
