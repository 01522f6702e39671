import { EyrieError } from '@eyrie/contract'
import type { ManagementRoute } from '@eyrie/contract/management/index'
import { parseBearerToken } from '@eyrie/kit'
import type { Context } from 'hono'
import type { Database, Transaction } from '../../db/database.ts'
import type { Principal } from '../../rights/principal.ts'
import { findApiToken, isApiToken } from '../../users/api-tokens.ts'
import { loadPrincipal } from '../../users/load-principal.ts'
import { findSession, isSessionAlive } from '../../users/sessions.ts'
import type { Users } from '../../users/users.ts'
import { readConsoleCookie, requireOwnPage } from './console-cookie.ts'

/**
 * Who calls; undefined where the request says nothing. Throws EyrieError `auth` where what it says is not valid, unless
 * the route is for anyone: who refreshes an access token may still send the old one.
 */
export type Identify = (context: Context, route?: ManagementRoute) => Promise<Principal | undefined>

/** Tells who calls by an access token, an API token, or the console's cookie. */
export function createIdentify(
  { accessTokens, principals, now }: Pick<Users, 'accessTokens' | 'principals' | 'now'>,
  database: () => Database,
): Identify {
  /** Undefined where there is no such session or token, or its user may not act. */
  const load = (find: (tx: Transaction) => Promise<Found | undefined>): Promise<Principal | undefined> =>
    database().system('identify', async tx => {
      const found = await find(tx)
      const principal = found && (await loadPrincipal(tx, found.user_id))
      return principal && { ...principal, session_id: found.session_id, scopes: found.scopes }
    })

  async function byAccessToken(text: string) {
    const { user_id, session_id } = await accessTokens.verify(text)
    return principals.find({ user_id, session_id }, () =>
      database().system('identify', async tx => {
        const [alive, principal] = await Promise.all([
          isSessionAlive(tx, { session_id, user_id }, now()),
          loadPrincipal(tx, user_id),
        ])
        return alive && principal ? { ...principal, session_id } : undefined
      }),
    )
  }
  const byApiToken = (text: string) => load(tx => findApiToken(tx, text, now()))
  const byCookie = (text: string) => load(tx => findSession(tx, text, now()))

  async function identify(context: Context): Promise<Principal | undefined> {
    const header = context.req.header('Authorization')
    if (header !== undefined) {
      const text = parseBearerToken(header)
      if (!text) throw new EyrieError('auth', 'send Authorization: Bearer <token>')
      const principal = await (isApiToken(text) ? byApiToken(text) : byAccessToken(text))
      return principal ?? refuse(isApiToken(text) ? 'this API token is not valid, or has expired' : ended)
    }
    const cookie = readConsoleCookie(context)
    if (cookie === undefined) return undefined
    requireOwnPage(context)
    return (await byCookie(cookie)) ?? refuse(ended)
  }

  return async (context, route) => {
    try {
      return await identify(context)
    } catch (error) {
      if (route?.access === 'anyone' && error instanceof EyrieError && error.code === 'auth') return undefined
      throw error
    }
  }
}

interface Found {
  user_id: string
  session_id?: string
  scopes?: readonly string[]
}

const ended = 'this session has ended: sign in again'

function refuse(reason: string): never {
  throw new EyrieError('auth', reason)
}
