import { z } from 'zod'
import { route } from './management-route.ts'
import { reference, timestamp } from './record-fields.ts'
import { signInResponse } from './sign-in.ts'
import { MAX_PASSWORD_LENGTH } from './user.ts'

/**
 * Codes of an authenticator app as the second step of a sign-in (TOTP, RFC 6238), in the management
 * API.
 */

export const RECOVERY_CODE_COUNT = 10

/** The seconds for which a code of the app is shown. */
export const TOTP_PERIOD_S = 30
export const TOTP_DIGITS = 6

/**
 * The details of the error that a user with an authenticator app receives after a correct password.
 * The challenge proves that the password was correct. It can be used for one sign-in.
 */
export const signInChallenge = z
  .object({
    challenge: z.string(),
    expires_in: z.int().meta({ description: 'Seconds until the challenge expires' }),
  })
  .meta({ id: 'SignInChallenge' })
export type SignInChallenge = z.infer<typeof signInChallenge>

/** Submits the second step of a sign-in. */
export const secondStep = z.strictObject({
  challenge: z.string().max(256),
  code: z
    .string()
    .max(256)
    .meta({ description: 'A code of the authenticator app, or a recovery code' }),
})

/** Whether a user needs a code to sign in. */
export const totpStatus = z
  .object({
    is_enabled: z.boolean(),
    enabled_at: timestamp.nullable(),
    recovery_codes_left: z.int(),
    has_provider: z.boolean().meta({
      description: 'Whether an identity provider signs the user in. Codes are not possible then',
    }),
  })
  .meta({ id: 'TotpStatus' })
export type TotpStatus = z.infer<typeof totpStatus>

const totpEnrolment = z
  .object({
    secret: z.string().meta({ description: 'In Base32, for apps that cannot read the QR code' }),
    uri: z.string().meta({ description: 'The content of the QR code: otpauth://totp/…' }),
  })
  .meta({ id: 'TotpEnrolment' })
export type TotpEnrolment = z.infer<typeof totpEnrolment>

const recoveryCodes = z
  .object({
    recovery_codes: z.array(z.string()).meta({ description: 'Each can be used for one sign-in' }),
  })
  .meta({ id: 'RecoveryCodes' })
export type RecoveryCodes = z.infer<typeof recoveryCodes>

const code = z.string().max(256)
const currentPassword = z.string().max(MAX_PASSWORD_LENGTH)
const confirmation = currentPassword.optional().meta({
  description: 'Your own password. Required unless you have signed in within the last five minutes',
})

export const totpRoutes = {
  authCode: route({
    method: 'post',
    path: '/user/auth/code',
    summary: 'Complete a sign-in with a code',
    description:
      'The challenge is part of the response of /user/auth to a correct password, which has the status 401. It expires after five minutes.',
    access: 'anyone',
    body: secondStep,
    status: 200,
    response: signInResponse,
  }),

  getTotp: route({
    method: 'get',
    path: '/user/totp',
    summary: 'Get whether your sign-in needs a code',
    access: 'signed-in',
    requiresSession: true,
    status: 200,
    response: totpStatus,
  }),

  enrollTotp: route({
    method: 'post',
    path: '/user/totp/enroll',
    summary: 'Register an authenticator app',
    description:
      'The app is required only after a code has confirmed it. No other operation returns the secret.',
    access: 'signed-in',
    requiresSession: true,
    body: z.strictObject({ current_password: confirmation }),
    status: 200,
    response: totpEnrolment,
  }),

  confirmTotp: route({
    method: 'post',
    path: '/user/totp/confirm',
    summary: 'Confirm the authenticator app',
    description:
      'From then on, your sign-in needs a code. No other operation returns the recovery codes.',
    access: 'signed-in',
    requiresSession: true,
    body: z.strictObject({ code }),
    status: 200,
    response: recoveryCodes,
  }),

  renewRecoveryCodes: route({
    method: 'post',
    path: '/user/totp/recovery-codes',
    summary: 'Replace your recovery codes',
    access: 'signed-in',
    requiresSession: true,
    body: z.strictObject({ current_password: currentPassword, code }),
    status: 200,
    response: recoveryCodes,
  }),

  disableTotp: route({
    method: 'post',
    path: '/user/totp/disable',
    summary: 'Remove your authenticator app',
    access: 'signed-in',
    requiresSession: true,
    body: z.strictObject({ current_password: currentPassword, code }),
    status: 200,
    response: null,
  }),

  resetTotp: route({
    method: 'post',
    path: '/user/totp/reset',
    summary: 'Remove the authenticator app of another user',
    access: 'administer',
    requiresSession: true,
    body: z.strictObject({ user_id: reference('user'), current_password: confirmation }),
    status: 200,
    response: null,
  }),
}
