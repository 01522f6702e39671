import { EyrieError } from '@eyrie/contract'
import type { OidcSettings } from '@eyrie/contract/management/index'
import type { Log } from '@eyrie/kit'
import { type Context, Hono } from 'hono'
import type { Database } from '../../db/database.ts'
import {
  finishAuthorization,
  type ProviderAccount,
  startAuthorization,
} from '../../users/oidc/authorization.ts'
import { findProvider } from '../../users/oidc/provider-settings.ts'
import { signInWithProvider } from '../../users/provider-sign-in.ts'
import type { Users } from '../../users/users.ts'
import { setConsoleCookie } from './console-cookie.ts'
import { setPendingSignIn, setSignInFailure, takePendingSignIn } from './provider-cookies.ts'
import { readSessionClient } from './request-client.ts'

const OPERATION = 'sign-in with the identity provider'

export interface ProviderRoutesOptions {
  database(): Database
  /** Throws `EyrieError` (`unavailable`) until the management service has started. */
  users(): Pick<Users, 'provider' | 'principals' | 'secrets' | 'now'>
  log: Log
}

/**
 * Routes for sign-in to the console with an identity provider. `GET /` redirects the browser to the
 * provider. When the user has signed in there, the provider redirects the browser to
 * `GET /callback`. After a failure, the sign-in page shows the reason.
 */
export function createProviderRoutes({ database, users, log }: ProviderRoutesOptions): Hono {
  async function startSession(c: Context, settings: OidcSettings, account: ProviderAccount) {
    const { principals, now } = users()
    try {
      const client = readSessionClient(c)
      return await signInWithProvider(database(), { settings, account, client, now: now() })
    } finally {
      // The groups of the account may have changed the rights of the user, even if
      // the sign-in was denied.
      principals.clear()
    }
  }

  async function readSettings(): Promise<OidcSettings> {
    const { secrets } = users()
    const settings = await database().system(OPERATION, tx => findProvider(tx, secrets))
    if (!settings) {
      throw new EyrieError('id', 'signing in with an identity provider is switched off')
    }
    return settings
  }

  /** Redirects the browser to the sign-in page if `work` fails. The page shows the reason. */
  async function redirectAfterFailure(
    c: Context,
    work: () => Promise<Response>,
  ): Promise<Response> {
    try {
      return await work()
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'failed to sign in with the identity provider')
      const reason =
        error instanceof EyrieError
          ? error.message
          : 'the identity provider has not confirmed who you are: try again, or ask an administrator'
      setSignInFailure(c, reason)
      return c.redirect('/sign-in')
    }
  }

  const app = new Hono()

  app.get('/', c =>
    redirectAfterFailure(c, async () => {
      const { url, encryptedState } = await startAuthorization(await readSettings(), users())
      setPendingSignIn(c, encryptedState)
      return c.redirect(url.href)
    }),
  )

  app.get('/callback', c =>
    redirectAfterFailure(c, async () => {
      const encryptedState = takePendingSignIn(c)
      const settings = await readSettings()
      const { search: query } = new URL(c.req.url)
      const account = await finishAuthorization(settings, { query, encryptedState }, users())
      const { refresh_token: refreshToken } = await startSession(c, settings, account)
      setConsoleCookie(c, refreshToken)
      return c.redirect('/')
    }),
  )

  return app
}

/**
 * Returns the messages of an error and its causes. Other fields of these errors are not logged,
 * because they may contain tokens.
 */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error
    ? `${error.message}: ${describeError(error.cause)}`
    : error.message
}
