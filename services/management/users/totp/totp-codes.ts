import { randomBytes, timingSafeEqual } from 'node:crypto'
import { TOTP_DIGITS, TOTP_PERIOD_S, type TotpEnrolment } from '@eyrie/contract/management/index'
import { createTOTPKeyURI, generateHOTP } from '@oslojs/otp'

// Codes of an authenticator app (TOTP, RFC 6238): each time step has a code that follows from a secret, which the app and the
// appliance share.

/** As long as the hash that makes the codes (RFC 4226, section 4). */
const SECRET_BYTES = 20
/** Steps before and after the current one whose codes are accepted, because clocks differ and typing takes time. */
const TOLERATED_STEPS = 1
const ISSUER = 'Eyrie'

/** Returns a new secret as base64url. */
export const generateTotpSecret = () => randomBytes(SECRET_BYTES).toString('base64url')

const toKey = (secret: string) => new Uint8Array(Buffer.from(secret, 'base64url'))

/** Returns what an authenticator app needs to make the codes of a user. */
export function describeTotpSecret(secret: string, email: string): TotpEnrolment {
  const uri = createTOTPKeyURI(ISSUER, email, toKey(secret), TOTP_PERIOD_S, TOTP_DIGITS)
  return { uri, secret: new URL(uri).searchParams.get('secret') ?? '' }
}

/**
 * Returns the time step of a code, or undefined if the code is wrong. Steps up to `lastStep` are not accepted, so that a code
 * that someone has watched is of no use once it was entered.
 */
export function findTotpStep(
  { secret, lastStep }: { secret: string; lastStep: number },
  code: string,
  now: Date,
): number | undefined {
  const currentStep = Math.floor(now.getTime() / 1000 / TOTP_PERIOD_S)
  const steps = Array.from({ length: 2 * TOLERATED_STEPS + 1 }, (_, n) => currentStep - TOLERATED_STEPS + n)
  const key = toKey(secret)
  const submitted = Buffer.from(code)
  // Every step is compared, so that the time does not reveal which one matches.
  const matching = steps.filter(step => {
    const expected = Buffer.from(generateHOTP(key, BigInt(step), TOTP_DIGITS))
    return expected.length === submitted.length && timingSafeEqual(expected, submitted)
  })
  return matching.find(step => step > lastStep)
}
