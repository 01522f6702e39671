import { EyrieError } from '@eyrie/contract'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'

const COOKIE = 'eyrie_session'
/** Only a page of ours can send it: another's would have to ask first, and is not allowed to. */
export const CONSOLE_HEADER = 'X-Eyrie-Console'
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

/** Throws EyrieError `rights` unless a request that may change something, or opens a WebSocket, comes from our own page. */
export function requireOwnPage(context: Context): void {
  const origin = context.req.header('Origin')
  const host = context.req.header('Host')
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`)
    throw new EyrieError('rights', `pages of ${origin} may not act for who has signed in here`)
  if (!SAFE_METHODS.includes(context.req.method) && context.req.header(CONSOLE_HEADER) === undefined)
    throw new EyrieError('rights', `send the header ${CONSOLE_HEADER} where a cookie says who you are`)
}
