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
 * Routes for sign-in to the console with an identity provider: the first sends the browser to the
 * provider, and the provider sends it back to the second. Both answer with redirects. After a
 * failure, the sign-in page shows the reason.
 */
export function createProviderRoutes({ database, users, log }: ProviderRoutesOptions): Hono {
  const app = new Hono()

  app.get('/', c =>
    explainFailure(c, async () => {
      const { url, encryptedState } = await startAuthorization(await readSettings(), users())
      setPendingSignIn(c, encryptedState)
      return c.redirect(url.href)
    }),
  )

  app.get('/callback', c =>
    explainFailure(c, async () => {
      const encryptedState = takePendingSignIn(c)
      const settings = await readSettings()
      const { search: query } = new URL(c.req.url)
      const account = await finishAuthorization(settings, { query, encryptedState }, users())
      const { refresh_token: refreshToken } = await startSession(c, settings, account)
      setConsoleCookie(c, refreshToken)
      return c.redirect('/')
    }),
  )

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

  /** Redirects to the sign-in page, which shows the reason, if `work` fails. */
  async function explainFailure(c: Context, work: () => Promise<Response>): Promise<Response> {
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

  return app
}

/**
 * Returns the messages of an error and its causes, without their other fields, which may contain
 * tokens.
 */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error
    ? `${error.message}: ${describeError(error.cause)}`
    : error.message
}
