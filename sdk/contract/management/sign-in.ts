import { z } from 'zod'
import { route } from './management-route.ts'
import { name, recordId, reference, text, timestamp } from './record-fields.ts'
import { email, MAX_PASSWORD_LENGTH, user } from './user.ts'

/**
 * Sign-in and sessions in the management API. A client sends the access token with each request.
 * When it expires, the client obtains a new one with the refresh token.
 */

export const MIN_PASSWORD_LENGTH = 8

const newPassword = z
  .string()
  .min(MIN_PASSWORD_LENGTH, { error: `must have at least ${MIN_PASSWORD_LENGTH} characters` })
  .max(MAX_PASSWORD_LENGTH)

/** Response of a sign-in: the tokens of the session, and the user. */
export const signInResponse = z
  .object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().meta({ description: 'Seconds until the access token expires' }),
    refresh_token: z.string(),
    user,
  })
  .meta({ id: 'SignedIn' })

/** A session: a sign-in of a user with one browser or client. */
export const userSession = z
  .object({
    session_id: recordId,
    address: z.string().meta({ description: 'IP address of the client' }),
    user_agent: z.string(),
    created_at: timestamp,
    used_at: timestamp,
    expires_at: timestamp,
    is_current: z.boolean().meta({ description: 'Whether this session made the request' }),
  })
  .meta({ id: 'UserSession' })

const refreshToken = z.strictObject({ refresh_token: text })

/** Routes that start and end sessions. */
export const signInRoutes = {
  auth: route({
    method: 'post',
    path: '/user/auth',
    summary: 'Sign in',
    description:
      'The response to a wrong password and to an unknown address is the same 404. If the user has an authenticator app, the response to a correct password is 401 with a challenge: send it with a code to `/user/auth/code`.',
    access: 'anyone',
    body: z.strictObject({ email: name, password: z.string().min(1).max(MAX_PASSWORD_LENGTH) }),
    status: 200,
    response: signInResponse,
  }),

  refresh: route({
    method: 'post',
    path: '/user/refresh',
    summary: 'Refresh the access token',
    access: 'anyone',
    body: refreshToken,
    status: 200,
    response: signInResponse,
  }),

  logout: route({
    method: 'post',
    path: '/user/logout',
    summary: 'Sign out',
    access: 'signed-in',
    requiresSession: true,
    body: refreshToken,
    status: 200,
    response: null,
  }),

  register: route({
    method: 'post',
    path: '/user/register',
    summary: 'Register a user',
    access: 'anyone',
    requiresSession: true,
    body: z.strictObject({
      email,
      first_name: text,
      last_name: text,
      password: newPassword,
      role_key: text,
    }),
    status: 201,
    response: user,
  }),
}

/** Routes that list and revoke the sessions of a user. */
export const sessionRoutes = {
  listSessions: route({
    method: 'get',
    path: '/user/sessions',
    summary: 'List sessions',
    description: 'Your own, or those of a user whom you administer.',
    access: 'signed-in',
    requiresSession: true,
    query: z.strictObject({ user_id: reference('user').optional() }),
    status: 200,
    response: z.array(userSession),
  }),

  revokeSession: route({
    method: 'post',
    path: '/user/sessions/revoke',
    summary: 'Revoke a session',
    access: 'signed-in',
    requiresSession: true,
    body: z.strictObject({ session_id: reference('session') }),
    status: 200,
    response: null,
  }),
}
