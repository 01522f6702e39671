import { EyrieError } from '@eyrie/contract'
import type { TotpEnrolment } from '@eyrie/contract/management/index'
import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { totp } from '../../db/schema/index.ts'
import { fieldError } from '../../errors/field-errors.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { deleteRecoveryCodes, replaceRecoveryCodes, spendRecoveryCode } from './recovery-codes.ts'
import { describeTotpSecret, findTotpStep, generateTotpSecret } from './totp-codes.ts'

// The authenticator app of a user. It is registered with a secret, and takes effect when the user
// has confirmed it with a code.

const ofUser = (userId: string) => eq(totp.user_id, userId)
const ofUserAndConfirmed = (userId: string) => and(ofUser(userId), isNotNull(totp.confirmed_at))

/**
 * Returns the confirmed authenticator app of a user, or undefined if the user signs in
 * with the password alone.
 */
export async function findAuthenticator(tx: Transaction, userId: string) {
  const [found] = await tx.select().from(totp).where(ofUserAndConfirmed(userId))
  return found
}

/**
 * Registers an app with a new secret, and returns the secret. Replaces an app that is not
 * confirmed. Throws `EyrieError` (`conflict`) if an app is confirmed.
 */
export async function enrollAuthenticator(
  tx: Transaction,
  { user_id, email }: { user_id: string; email: string },
  secrets: Secrets,
  now: Date,
): Promise<TotpEnrolment> {
  const secret = generateTotpSecret()
  const values = { secret: secrets.encrypt(secret), created_at: now, last_step: 0 }
  const stored = await tx
    .insert(totp)
    .values({ user_id, ...values })
    .onConflictDoUpdate({ target: totp.user_id, set: values, setWhere: isNull(totp.confirmed_at) })
    .returning({ user_id: totp.user_id })
  if (stored.length === 0) {
    throw new EyrieError('conflict', 'an authenticator app is registered already: remove it first')
  }
  return describeTotpSecret(secret, email)
}

/**
 * Confirms the registered app with a code and returns the recovery codes. Throws `EyrieError`
 * (`conflict`) if no app is registered, if it is confirmed already, or if the code is wrong.
 */
export async function confirmAuthenticator(
  tx: Transaction,
  userId: string,
  code: string,
  { secrets, now }: { secrets: Secrets; now: Date },
): Promise<string[]> {
  const [registered] = await tx.select().from(totp).where(ofUser(userId)).for('update')
  if (!registered) {
    throw new EyrieError('conflict', 'no authenticator app is registered: register one first')
  }
  if (registered.confirmed_at) {
    throw new EyrieError(
      'conflict',
      'the authenticator app is confirmed already: sign in with its codes',
    )
  }

  const secret = secrets.decrypt(registered.secret)
  const step = findTotpStep({ secret, lastStep: registered.last_step }, normalizeCode(code), now)
  if (step === undefined) {
    throw fieldError('code', 'is not the current code of the app: check the clock of the device', {
      code: 'conflict',
    })
  }
  await tx
    .update(totp)
    .set({ confirmed_at: now, last_step: step, codes_created_at: now })
    .where(ofUser(userId))
  return replaceRecoveryCodes(tx, userId)
}

/**
 * Accepts a code of the confirmed app, or a recovery code, once. Returns false if the code is wrong
 * or was used before, and if no app is confirmed. Concurrent calls wait for each other.
 */
export async function spendCode(
  tx: Transaction,
  userId: string,
  code: string,
  { secrets, now }: { secrets: Secrets; now: Date },
): Promise<boolean> {
  const [confirmed] = await tx.select().from(totp).where(ofUserAndConfirmed(userId)).for('update')
  if (!confirmed) return false

  const submitted = normalizeCode(code)
  const isRecoveryCode = !/^\d{6}$/.test(submitted)
  if (isRecoveryCode) return spendRecoveryCode(tx, userId, submitted, now)

  const secret = secrets.decrypt(confirmed.secret)
  const step = findTotpStep({ secret, lastStep: confirmed.last_step }, submitted, now)
  if (step === undefined) return false
  await tx.update(totp).set({ last_step: step }).where(ofUser(userId))
  return true
}

/** Replaces the recovery codes of a user with a confirmed app. */
export async function renewRecoveryCodes(
  tx: Transaction,
  userId: string,
  now: Date,
): Promise<string[]> {
  await tx.update(totp).set({ codes_created_at: now }).where(ofUser(userId))
  return replaceRecoveryCodes(tx, userId)
}

/**
 * Removes the authenticator app and the recovery codes of a user. Returns whether there
 * was a confirmed app.
 */
export async function removeAuthenticator(tx: Transaction, userId: string): Promise<boolean> {
  await deleteRecoveryCodes(tx, userId)
  const removed = await tx
    .delete(totp)
    .where(ofUser(userId))
    .returning({ confirmed_at: totp.confirmed_at })
  return removed.some(({ confirmed_at }) => confirmed_at !== null)
}

/** Removes spaces: apps show codes in groups of digits. */
const normalizeCode = (code: string) => code.replaceAll(/\s/g, '')

export const wrongCode = () =>
  fieldError('code', 'is wrong or was used before: wait for the next code of the app', {
    code: 'rights',
  })
