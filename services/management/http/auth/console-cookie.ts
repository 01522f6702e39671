import { EyrieError } from '@eyrie/contract'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'

const COOKIE = 'eyrie_session'
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']
const LASTS_SECONDS = 30 * 86_400

/** The refresh token of the console's session, which no script of a page can read. */
export const readConsoleCookie = (context: Context) => getCookie(context, COOKIE)

export function setConsoleCookie(context: Context, token: string): void {
  setCookie(context, COOKIE, token, { ...attributes(context), maxAge: LASTS_SECONDS })
}

export function dropConsoleCookie(context: Context): void {
  deleteCookie(context, COOKIE, attributes(context))
}

const attributes = (context: Context) =>
  ({
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
    secure: new URL(context.req.url).protocol === 'https:',
  }) as const

/**
 * Throws EyrieError `rights` unless a request that a browser makes comes from our own page. Where something is to be
 * changed it has to say so: browsers always do, and no page can make them tell another origin than its own.
 */
export function requireOwnPage(context: Context): void {
  const origin = context.req.header('Origin')
  const host = context.req.header('Host')
  if (origin === undefined && SAFE_METHODS.includes(context.req.method)) return
  if (origin !== `http://${host}` && origin !== `https://${host}`)
    throw new EyrieError(
      'rights',
      `pages of ${origin ?? 'an unknown origin'} may not act for who has signed in here`,
    )
}
