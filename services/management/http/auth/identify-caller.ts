import { EyrieError } from '@eyrie/contract'
import type { ManagementRoute } from '@eyrie/contract/management/index'
import { getRequestClient, parseBearerToken } from '@eyrie/kit'
import type { Context } from 'hono'
import type { Database, Transaction } from '../../db/database.ts'
import { DatabaseUnavailableError } from '../../db/database-errors.ts'
import type { Principal } from '../../rights/principal.ts'
import { findApiToken, isApiToken } from '../../users/api-tokens.ts'
import { loadPrincipal } from '../../users/load-principal.ts'
import {
  extendSession,
  findSession,
  isExtensionDue,
  isSessionActive,
} from '../../users/sessions.ts'
import type { Users } from '../../users/users.ts'
import {
  assertSameOrigin,
  canRenewConsoleCookie,
  readConsoleCookie,
  renewConsoleCookie,
} from './console-cookie.ts'

/**
 * Returns the authenticated caller of a request, with its rights (`Principal`), or undefined if the
 * request has no credentials. Throws `EyrieError` (`auth`) for invalid credentials. Routes that are
 * open to anyone ignore invalid credentials, because a client may send an expired access token with
 * the request that refreshes it.
 */
export type IdentifyCaller = (
  context: Context,
  route?: ManagementRoute,
) => Promise<Principal | undefined>

/** A stored credential that identifies its user. */
interface Credential {
  user_id: string
  session_id?: string
  token_id?: string
  scopes?: readonly string[]
}

const SESSION_ENDED = 'this session has ended: sign in again'
const API_TOKEN_INVALID = 'this API token is invalid or has expired'

/**
 * Creates a function that identifies callers by access token, API token or the console's session
 * cookie. `users` and `database` may throw while the service starts. They are not called for
 * requests without credentials.
 */
export function createIdentifyCaller(
  users: () => Pick<Users, 'accessTokens' | 'principals' | 'now'>,
  database: () => Database,
): IdentifyCaller {
  async function identify(context: Context): Promise<Principal | undefined> {
    const header = context.req.header('Authorization')
    if (header !== undefined) {
      const token = parseBearerToken(header)
      if (!token) {
        throw new EyrieError('auth', 'the Authorization header must have the form "Bearer <token>"')
      }
      if (isApiToken(token)) return assertFound(await findByApiToken(token), API_TOKEN_INVALID)
      return assertFound(await findByAccessToken(token), SESSION_ENDED)
    }

    const cookie = readConsoleCookie(context)
    if (cookie === undefined) return undefined
    assertSameOrigin(context)
    return assertFound(await findByCookie(context, cookie), SESSION_ENDED)
  }

  async function findByAccessToken(token: string): Promise<Principal | undefined> {
    const { accessTokens, principals, now } = users()
    const { user_id: userId, session_id: sessionId } = await accessTokens.verify(token)
    return principals.getOrLoad({ user_id: userId, session_id: sessionId }, () =>
      database().system('identify', async tx => {
        const [isActive, principal] = await Promise.all([
          isSessionActive(tx, { session_id: sessionId, user_id: userId }, now()),
          loadPrincipal(tx, userId),
        ])
        return isActive && principal ? { ...principal, session_id: sessionId } : undefined
      }),
    )
  }

  const findByApiToken = (token: string) =>
    loadCredentialOwner(tx => findApiToken(tx, token, users().now()))

  /** Also extends the session, and its cookie with it. */
  async function findByCookie(context: Context, token: string): Promise<Principal | undefined> {
    const now = users().now()
    let isDue = false
    const principal = await loadCredentialOwner(async tx => {
      const current = await findSession(tx, token, now)
      isDue = current !== undefined && isExtensionDue(current.used_at, now)
      return current
    })
    if (principal?.session_id && isDue && canRenewConsoleCookie(context)) {
      if (await tryExtendSession(principal.session_id, now)) renewConsoleCookie(context, token)
    }
    return principal
  }

  /** Returns false if the database cannot store: with a full disk, sessions are still valid. */
  async function tryExtendSession(sessionId: string, now: Date): Promise<boolean> {
    try {
      return await database().system('identify', tx => extendSession(tx, sessionId, now))
    } catch (error) {
      if (error instanceof DatabaseUnavailableError) return false
      throw error
    }
  }

  /**
   * Returns the user of a credential, or undefined if the credential does not exist or the
   * user may not sign in.
   */
  function loadCredentialOwner(
    findCredential: (tx: Transaction) => Promise<Credential | undefined>,
  ): Promise<Principal | undefined> {
    return database().system('identify', async tx => {
      const credential = await findCredential(tx)
      if (!credential) return undefined

      const { user_id: userId, session_id, token_id, scopes } = credential
      const principal = await loadPrincipal(tx, userId)
      return principal && { ...principal, session_id, token_id, scopes }
    })
  }

  return async (context, route) => {
    try {
      const caller = await identify(context)
      return caller && { ...caller, address: getRequestClient(context).address }
    } catch (error) {
      const isUnauthenticated = error instanceof EyrieError && error.code === 'auth'
      if (isUnauthenticated && route?.access === 'anyone') return undefined
      throw error
    }
  }
}

function assertFound(principal: Principal | undefined, reason: string): Principal {
  if (!principal) throw new EyrieError('auth', reason)
  return principal
}
