import { EyrieError } from '@eyrie/contract'
import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import { session } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { ACCESS_TOKEN_SECONDS, type AccessTokens } from '../../../users/access-tokens.ts'
import type { Passwords } from '../../../users/passwords.ts'
import { registerUser } from '../../../users/register-user.ts'
import { findSession, listSessions, refreshSession, type StartedSession } from '../../../users/sessions.ts'
import { signIn } from '../../../users/sign-in.ts'
import { describeUser } from '../../../users/user-queries.ts'
import { defineMultiStepOperation, defineOperation, type Operation } from '../../api/operation.ts'
import { addRetryAfter, getPeerAddress, readSessionClient } from '../../auth/request-client.ts'

const routes = managementRoutes.user

export interface SignInOperationsOptions {
  accessTokens: AccessTokens
  passwords: Passwords
  now(): Date
}

/** Sign-in, registration and the sessions of users. */
export function signInOperations({ accessTokens, passwords, now }: SignInOperationsOptions): Operation[] {
  async function issueTokens(database: Database, { user_id, session_id, refresh_token }: StartedSession) {
    const user = await database.system(routes.auth.path, tx => describeUser(tx, user_id))
    const access_token = await accessTokens.sign({ user_id, session_id })
    const token_type = 'Bearer' as const
    return { value: { access_token, token_type, expires_in: ACCESS_TOKEN_SECONDS, refresh_token, user } }
  }

  return [
    defineMultiStepOperation(routes.auth, async ({ input, context }, database) => {
      const started = await addRetryAfter(
        context,
        signIn(database, input, readSessionClient(context), { passwords, now }),
      )
      return issueTokens(database, started)
    }),

    defineMultiStepOperation(routes.refresh, async ({ input: { refresh_token } }, database) =>
      issueTokens(database, await refreshSession(database, refresh_token, now())),
    ),

    defineMultiStepOperation(routes.logout, async ({ input: { refresh_token }, caller }, database) => {
      await database.as(caller, routes.logout.path, async tx => {
        const current = await findSession(tx, refresh_token, now())
        if (!current)
          throw fieldError('refresh_token', 'does not belong to any of your sessions', { code: 'id' })
        await tx.update(session).set({ revoked_at: now() }).where(eq(session.session_id, current.session_id))
      })
      return undefined
    }),

    defineMultiStepOperation(routes.register, async ({ input, caller, context }, database) => {
      if (!caller && context.req.header('Authorization'))
        throw new EyrieError('auth', 'the credentials are invalid or expired: refresh them, or send none')
      const address = getPeerAddress(context)
      const user_id = await addRetryAfter(
        context,
        registerUser(database, input, { caller, address, passwords, now }),
      )
      return { value: await database.system(routes.register.path, tx => describeUser(tx, user_id)) }
    }),

    defineOperation(routes.sessions, async ({ input: { user_id }, caller }, tx) => {
      const active = await listSessions(tx, user_id ?? caller.user_id, now())
      return { value: active.map(row => ({ ...row, is_current: row.session_id === caller.session_id })) }
    }),

    defineOperation(routes.revokeSession, async ({ input: { session_id } }, tx) => {
      await tx.update(session).set({ revoked_at: now() }).where(eq(session.session_id, session_id))
      return undefined
    }),
  ]
}
