import { EyrieError } from '@eyrie/contract'
import { sessionRoutes, signInRoutes, totpRoutes } from '@eyrie/contract/management/index'
import { getRequestClient } from '@eyrie/kit'
import { eq } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import { session } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { ACCESS_TOKEN_SECONDS, type AccessTokens } from '../../../users/access-tokens.ts'
import type { Passwords } from '../../../users/passwords.ts'
import { registerUser } from '../../../users/register-user.ts'
import {
  findSession,
  listSessions,
  refreshSession,
  type StartedSession,
} from '../../../users/sessions.ts'
import { signIn } from '../../../users/sign-in.ts'
import { completeSignIn } from '../../../users/submit-code.ts'
import { describeUser } from '../../../users/user-queries.ts'
import { defineMultiStepOperation, defineOperation, type Operation } from '../../api/operation.ts'
import { addRetryAfter, readSessionClient } from '../../auth/request-client.ts'

export interface SignInOperationsOptions {
  accessTokens: AccessTokens
  passwords: Passwords
  secrets: Secrets
  /** Whether anyone may register, not only administrators. */
  isRegistrationOpen: boolean
  now(): Date
}

/**
 * API operations for sign-in, registration and sessions of users. A session starts with a sign-in.
 * Its refresh token renews the access token, which authenticates requests for a short time.
 */
export function signInOperations({
  accessTokens,
  passwords,
  secrets,
  isRegistrationOpen,
  now,
}: SignInOperationsOptions): Operation[] {
  /**
   * Returns the response to a sign-in: a new access token, and the refresh token of the session.
   */
  async function issueTokens(
    database: Database,
    { user_id, session_id, refresh_token }: StartedSession,
  ) {
    return {
      value: {
        access_token: await accessTokens.sign({ user_id, session_id }),
        token_type: 'Bearer' as const,
        expires_in: ACCESS_TOKEN_SECONDS,
        refresh_token,
        user: await database.system(signInRoutes.auth.path, tx => describeUser(tx, user_id)),
      },
    }
  }

  return [
    defineMultiStepOperation(signInRoutes.auth, async ({ input, context }, database) => {
      const signingIn = signIn(database, input, readSessionClient(context), { passwords, now })
      const started = await addRetryAfter(context, signingIn)
      return issueTokens(database, started)
    }),

    defineMultiStepOperation(totpRoutes.authCode, async ({ input, context }, database) => {
      const completing = completeSignIn(database, input, readSessionClient(context), {
        secrets,
        now,
      })
      const started = await addRetryAfter(context, completing)
      return issueTokens(database, started)
    }),

    defineMultiStepOperation(signInRoutes.refresh, async ({ input }, database) => {
      const refreshed = await refreshSession(database, input.refresh_token, now())
      return issueTokens(database, refreshed)
    }),

    defineMultiStepOperation(signInRoutes.logout, async ({ input, caller }, database) => {
      await database.as(caller, signInRoutes.logout.path, async tx => {
        const current = await findSession(tx, input.refresh_token, now())
        if (!current) {
          throw fieldError('refresh_token', 'does not belong to any of your sessions', {
            code: 'id',
          })
        }
        await tx
          .update(session)
          .set({ revoked_at: now() })
          .where(eq(session.session_id, current.session_id))
      })
    }),

    defineMultiStepOperation(
      signInRoutes.register,
      async ({ input, caller, context }, database) => {
        // Anyone may register without credentials. A client that sends credentials expects to be
        // signed in, so invalid ones are not ignored.
        if (!caller && context.req.header('Authorization')) {
          throw new EyrieError(
            'auth',
            'the credentials are invalid or expired: refresh them, or send none',
          )
        }

        const { address } = getRequestClient(context)
        const options = { caller, address, isOpen: isRegistrationOpen, passwords, now }
        const userId = await addRetryAfter(context, registerUser(database, input, options))
        const registeredUser = await database.system(signInRoutes.register.path, tx =>
          describeUser(tx, userId),
        )
        return { value: registeredUser }
      },
    ),

    defineOperation(sessionRoutes.listSessions, async ({ input, caller }, tx) => {
      const sessions = await listSessions(tx, input.user_id ?? caller.user_id, now())
      const isCurrent = (sessionId: string) => sessionId === caller.session_id
      return { value: sessions.map(row => ({ ...row, is_current: isCurrent(row.session_id) })) }
    }),

    defineOperation(sessionRoutes.revokeSession, async ({ input }, tx) => {
      await tx
        .update(session)
        .set({ revoked_at: now() })
        .where(eq(session.session_id, input.session_id))
    }),
  ]
}
