import { EyrieError } from '@eyrie/contract'
import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import type { Database } from '../../../db/database.ts'
import { session } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { ACCESS_TOKEN_SECONDS, type AccessTokens } from '../../../users/access-tokens.ts'
import type { Passwords } from '../../../users/passwords.ts'
import { register } from '../../../users/register-user.ts'
import { type Begun, findSession, refreshSession } from '../../../users/sessions.ts'
import { signIn } from '../../../users/sign-in.ts'
import { describeUser } from '../../../users/user-queries.ts'
import { longOperation, type Operation } from '../../api/operation.ts'
import { peerAddress } from '../../auth/peer-address.ts'
import { addRetryAfter, readOrigin } from '../../auth/sign-in-requests.ts'

const routes = managementRoutes.user

export interface SignInOperationsOptions {
  accessTokens: AccessTokens
  passwords: Passwords
  now(): Date
}

export function signInOperations({ accessTokens, passwords, now }: SignInOperationsOptions): Operation[] {
  async function tokensOf(database: Database, { user_id, session_id, refresh_token }: Begun) {
    const user = await database.system(routes.auth.path, tx => describeUser(tx, user_id))
    const access_token = await accessTokens.sign({ user_id, session_id })
    const value = {
      access_token,
      token_type: 'Bearer',
      expires_in: ACCESS_TOKEN_SECONDS,
      refresh_token,
      user,
    } as const
    return { value }
  }

  return [
    longOperation(routes.auth, async ({ input, context }, database) => {
      const begun = await addRetryAfter(
        context,
        signIn(database, input, readOrigin(context), { passwords, now }),
      )
      return tokensOf(database, begun)
    }),

    longOperation(routes.refresh, async ({ input: { refresh_token } }, database) =>
      tokensOf(database, await refreshSession(database, refresh_token, now())),
    ),

    longOperation(routes.logout, async ({ input: { refresh_token }, caller }, database) => {
      await database.as(caller, routes.logout.path, async tx => {
        const found = await findSession(tx, refresh_token, now())
        if (!found)
          throw fieldError('refresh_token', 'you have no session that it belongs to', { code: 'id' })
        await tx.update(session).set({ revoked_at: now() }).where(eq(session.session_id, found.session_id))
      })
      return undefined
    }),

    longOperation(routes.register, async ({ input, caller, context }, database) => {
      if (!caller && context.req.header('Authorization'))
        throw new EyrieError(
          'auth',
          'what you sent to say who you are is not valid: refresh it, or leave it out',
        )
      const address = peerAddress(context)
      const user_id = await addRetryAfter(
        context,
        register(database, input, { caller, address, passwords, now }),
      )
      return { value: await database.system(routes.register.path, tx => describeUser(tx, user_id)) }
    }),
  ]
}
