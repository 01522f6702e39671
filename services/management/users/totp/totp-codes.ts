import { randomBytes, timingSafeEqual } from 'node:crypto'
import { TOTP_DIGITS, TOTP_PERIOD_S, type TotpEnrolment } from '@eyrie/contract/management/index'
import { createTOTPKeyURI, generateHOTP } from '@oslojs/otp'

// Codes of an authenticator app (TOTP, RFC 6238). Time is divided into steps, and each step has a
// code. The app and the appliance compute the code from a secret that they share.

/**
 * Length of the secret, which is that of the hash from which codes are computed (RFC 4226, section
 * 4).
 */
const SECRET_BYTES = 20
/**
 * Number of steps before and after the current one whose codes are accepted too, because clocks
 * differ and typing takes time.
 */
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
 * Returns the time step of a code, or undefined if the code is wrong. `lastStep` is the step of the
 * last code that was used. Codes of this step and of earlier ones are not accepted: someone may
 * have seen them being typed.
 */
export function findTotpStep(
  { secret, lastStep }: { secret: string; lastStep: number },
  code: string,
  now: Date,
): number | undefined {
  const currentStep = Math.floor(now.getTime() / 1000 / TOTP_PERIOD_S)
  const firstStep = currentStep - TOLERATED_STEPS
  const steps = Array.from({ length: 2 * TOLERATED_STEPS + 1 }, (_, index) => firstStep + index)
  const key = toKey(secret)
  const submitted = Buffer.from(code)
  // Every step is compared, so that the time does not reveal which one matches.
  const matching = steps.filter(step => {
    const expected = Buffer.from(generateHOTP(key, BigInt(step), TOTP_DIGITS))
    return expected.length === submitted.length && timingSafeEqual(expected, submitted)
  })
  return matching.find(step => step > lastStep)
}
