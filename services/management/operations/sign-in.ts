import { EyrieError } from '@eyrie/contract'
import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import type { Context } from 'hono'
import { fault } from '../api/fault.ts'
import { longOperation, type Operation } from '../api/operation.ts'
import type { Database } from '../db/database.ts'
import { session } from '../db/schema/index.ts'
import { ACCESS_TOKEN_SECONDS, type AccessTokens } from '../users/access-token.ts'
import { describeUser } from '../users/describe.ts'
import type { Passwords } from '../users/passwords.ts'
import { peerAddress } from '../users/peer.ts'
import { register } from '../users/register.ts'
import { type Begun, findSession, type Origin, refreshSession } from '../users/sessions.ts'
import { signIn } from '../users/sign-in.ts'
import { TooManyAttempts } from '../users/sign-in-limits.ts'

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
      const begun = await tellingWhen(context, signIn(database, input, originOf(context), { passwords, now }))
      return tokensOf(database, begun)
    }),

    longOperation(routes.refresh, async ({ input: { refresh_token } }, database) =>
      tokensOf(database, await refreshSession(database, refresh_token, now())),
    ),

    longOperation(routes.logout, async ({ input: { refresh_token }, caller }, database) => {
      await database.as(caller, routes.logout.path, async tx => {
        const found = await findSession(tx, refresh_token, now())
        if (!found) throw fault('refresh_token', 'you have no session that it belongs to', { code: 'id' })
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
      const user_id = await tellingWhen(
        context,
        register(database, input, { caller, address, passwords, now }),
      )
      return { value: await database.system(routes.register.path, tx => describeUser(tx, user_id)) }
    }),
  ]
}

export const originOf = (context: Context): Origin => ({
  address: peerAddress(context),
  user_agent: context.req.header('User-Agent') ?? '',
})

/** Says in the answer when to try again. */
export async function tellingWhen<T>(context: Context, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof TooManyAttempts) context.header('Retry-After', String(error.retryAfter))
    throw error
  }
}
