import { EyrieError } from '@eyrie/contract'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'

const COOKIE = 'eyrie_session'
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']
const MAX_AGE_SECONDS = 30 * 86_400

/** The refresh token of the console's session. The cookie is `HttpOnly`, so scripts cannot read it. */
export const readConsoleCookie = (context: Context) => getCookie(context, COOKIE)

export function setConsoleCookie(context: Context, token: string): void {
  setCookie(context, COOKIE, token, { ...cookieAttributes(context), maxAge: MAX_AGE_SECONDS })
}

export function clearConsoleCookie(context: Context): void {
  deleteCookie(context, COOKIE, cookieAttributes(context))
}

const cookieAttributes = (context: Context) =>
  ({
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    secure: new URL(context.req.url).protocol === 'https:',
  }) as const

/**
 * Throws `EyrieError` (`rights`) if the request comes from a page of another origin. Unsafe methods must carry an `Origin`
 * header: browsers always send it, and a page cannot forge it. Safe methods may omit it.
 */
export function assertOwnOrigin(context: Context): void {
  const origin = context.req.header('Origin')
  const host = context.req.header('Host')
  if (origin === undefined && SAFE_METHODS.includes(context.req.method)) return
  if (origin !== `http://${host}` && origin !== `https://${host}`)
    throw new EyrieError(
      'rights',
      `pages of ${origin ?? 'an unknown origin'} may not use the session of this console`,
    )
}
