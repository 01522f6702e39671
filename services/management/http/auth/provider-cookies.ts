import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { SIGN_IN_MINUTES } from '../../users/oidc/authorization.ts'
import { cookieAttributes, toCookieName } from './console-cookie.ts'

// Cookies of a sign-in with the identity provider.

const PENDING_COOKIE = 'eyrie_provider'
const FAILURE_COOKIE = 'eyrie_sign_in_failure'
const FAILURE_SECONDS = 60

/** The browser sends this cookie when the provider sends it back, which `SameSite=Strict` would prevent. */
const pendingAttributes = (context: Context) => ({ ...cookieAttributes(context), sameSite: 'Lax' }) as const

export function setPendingSignIn(context: Context, kept: string): void {
  const attributes = { ...pendingAttributes(context), maxAge: SIGN_IN_MINUTES * 60 }
  setCookie(context, toCookieName(context, PENDING_COOKIE), kept, attributes)
}

/** Returns what this browser has kept since it started to sign in, and deletes it: it is good for one attempt. */
export function takePendingSignIn(context: Context): string | undefined {
  const name = toCookieName(context, PENDING_COOKIE)
  const kept = getCookie(context, name)
  deleteCookie(context, name, pendingAttributes(context))
  return kept
}

/** Keeps the reason for the sign-in page. It is not in the address, where anyone could write one. */
export function setSignInFailure(context: Context, reason: string): void {
  const attributes = { ...cookieAttributes(context), maxAge: FAILURE_SECONDS }
  setCookie(context, toCookieName(context, FAILURE_COOKIE), reason, attributes)
}

/** Returns why the sign-in of this browser has just failed, once. */
export function takeSignInFailure(context: Context): string | undefined {
  const name = toCookieName(context, FAILURE_COOKIE)
  const reason = getCookie(context, name)
  if (reason !== undefined) deleteCookie(context, name, cookieAttributes(context))
  return reason
}
