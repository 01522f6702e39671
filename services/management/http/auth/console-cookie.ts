import { EyrieError } from '@eyrie/contract'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'

const COOKIE_NAME = 'eyrie_session'
/** Browsers accept a cookie with this prefix only over TLS, and never from another host of the same domain (RFC 6265bis). */
const SECURE_COOKIE_NAME = `__Host-${COOKIE_NAME}`
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']
const DAY_SECONDS = 86_400
const MAX_AGE_SECONDS = 30 * DAY_SECONDS

/** Returns the refresh token of the console's session. Scripts cannot read it, because the cookie is `HttpOnly`. */
export const readConsoleCookie = (context: Context) => getCookie(context, getCookieName(context))

export function setConsoleCookie(context: Context, refreshToken: string): void {
  setCookie(context, getCookieName(context), refreshToken, {
    ...cookieAttributes(context),
    maxAge: MAX_AGE_SECONDS,
  })
}

export function clearConsoleCookie(context: Context): void {
  deleteCookie(context, getCookieName(context), cookieAttributes(context))
}

/** Returns whether the client uses TLS. */
export const isSecure = (context: Context) => new URL(context.req.url).protocol === 'https:'

const getCookieName = (context: Context) => (isSecure(context) ? SECURE_COOKIE_NAME : COOKIE_NAME)

const cookieAttributes = (context: Context) =>
  ({
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    secure: isSecure(context),
  }) as const

/**
 * Throws `EyrieError` (`rights`) if the request comes from a page of another origin. Browsers send the `Origin` header with
 * every request that may change data (Fetch Standard, section 3.2), and pages cannot forge it. Other requests may lack it.
 */
export function assertSameOrigin(context: Context): void {
  const origin = context.req.header('Origin')
  const host = context.req.header('Host')

  if (origin === undefined && SAFE_METHODS.includes(context.req.method)) return
  if (origin !== `http://${host}` && origin !== `https://${host}`)
    throw new EyrieError(
      'rights',
      `pages of ${origin ?? 'an unknown origin'} may not use the session of this console: sign in at ${host}, or send an access token`,
    )
}
