import { EyrieError } from '@eyrie/contract'
import { getRequestClient } from '@eyrie/kit/client/request-client'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { LOCAL_SESSION_MS } from '../../users/local-sessions.ts'

/**
 * Browsers accept a cookie with this prefix only over TLS, and never from another host of the same
 * domain (RFC 6265bis).
 */
const SECURE_PREFIX = '__Host-'
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']
const DAY_SECONDS = 86_400

interface CookieDefinition {
  name: string
  maxAge: number
}

/**
 * The cookies of the console: for users who have signed in, and for browsers on the appliance
 * itself.
 */
const SESSION: CookieDefinition = { name: 'eyrie_session', maxAge: 30 * DAY_SECONDS }
const LOCAL_SESSION: CookieDefinition = { name: 'eyrie_local', maxAge: LOCAL_SESSION_MS / 1000 }

/**
 * Returns the refresh token of the console's session. Scripts cannot read it, because the
 * cookie is `HttpOnly`.
 */
export const readConsoleCookie = (context: Context) =>
  getCookie(context, toCookieName(context, SESSION.name))

export const setConsoleCookie = (context: Context, refreshToken: string): void =>
  setSessionCookie(context, SESSION, refreshToken)

/** Returns whether the response can set a cookie: not in a WebSocket, nor after it has started. */
export function canRenewConsoleCookie(context: Context): boolean {
  // Only ordinary requests have a response (`outgoing`). `env` is undefined without a server.
  const { outgoing } = (context.env ?? {}) as Partial<HttpBindings>
  return outgoing !== undefined && !outgoing.headersSent
}

/** Sets the same cookie again in the response to come, so that it remains valid for longer. */
export function renewConsoleCookie(context: Context, refreshToken: string): void {
  setConsoleCookie(context, refreshToken)
  // Hono adds headers to a `Response` that a handler creates itself only if `res` was read before.
  void context.res
}

export const clearConsoleCookie = (context: Context): void => clearSessionCookie(context, SESSION)

/**
 * Returns the token of a local session, which a browser on the appliance itself has if it opened a
 * link instead of signing in.
 */
export const readLocalCookie = (context: Context) =>
  getCookie(context, toCookieName(context, LOCAL_SESSION.name))

export const setLocalCookie = (context: Context, token: string): void =>
  setSessionCookie(context, LOCAL_SESSION, token)

export const clearLocalCookie = (context: Context): void =>
  clearSessionCookie(context, LOCAL_SESSION)

function setSessionCookie(context: Context, cookie: CookieDefinition, value: string): void {
  const { maxAge } = cookie
  setCookie(context, toCookieName(context, cookie.name), value, {
    ...cookieAttributes(context),
    maxAge,
  })
}

function clearSessionCookie(context: Context, cookie: CookieDefinition): void {
  deleteCookie(context, toCookieName(context, cookie.name), cookieAttributes(context))
}

/** Returns whether the client uses TLS. */
export const isSecure = (context: Context) => getRequestClient(context).protocol === 'https'

/** Returns the name under which a cookie of the console is set. */
export const toCookieName = (context: Context, name: string) =>
  isSecure(context) ? SECURE_PREFIX + name : name

/** The attributes of the cookies of the console, which scripts cannot read. */
export const cookieAttributes = (context: Context) =>
  ({
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    secure: isSecure(context),
  }) as const

/**
 * Throws `EyrieError` (`rights`) if the request comes from a page of another origin. Browsers send
 * the `Origin` header with every request that may change data (Fetch Standard, section 3.2), and
 * pages cannot forge it. Other requests may lack it.
 */
export function assertSameOrigin(context: Context): void {
  const origin = context.req.header('Origin')
  const { host } = getRequestClient(context)

  if (origin === undefined && SAFE_METHODS.includes(context.req.method)) return
  if (origin !== `http://${host}` && origin !== `https://${host}`) {
    throw new EyrieError(
      'rights',
      `pages of ${origin ?? 'an unknown origin'} may not use the session of this console: sign in at ${host}, or send an access token`,
    )
  }
}
