import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { SIGN_IN_MINUTES } from '../../users/oidc/authorization.ts'
import { cookieAttributes, toCookieName } from './console-cookie.ts'

// Cookies of a sign-in with the identity provider.

const PENDING_COOKIE = 'eyrie_provider'
const FAILURE_COOKIE = 'eyrie_sign_in_failure'
const FAILURE_SECONDS = 60

/**
 * `SameSite=Strict` would prevent the browser from sending the cookie when the provider
 * redirects to the console.
 */
const pendingAttributes = (context: Context) =>
  ({ ...cookieAttributes(context), sameSite: 'Lax' }) as const

/** Stores the encrypted state of a sign-in in the browser while it is at the provider. */
export function setPendingSignIn(context: Context, encryptedState: string): void {
  const attributes = { ...pendingAttributes(context), maxAge: SIGN_IN_MINUTES * 60 }
  setCookie(context, toCookieName(context, PENDING_COOKIE), encryptedState, attributes)
}

/**
 * Returns the encrypted state of the sign-in that this browser has started, and deletes it, so that
 * it can be used only once.
 */
export function takePendingSignIn(context: Context): string | undefined {
  const name = toCookieName(context, PENDING_COOKIE)
  const encryptedState = getCookie(context, name)
  deleteCookie(context, name, pendingAttributes(context))
  return encryptedState
}

/**
 * Stores why a sign-in has failed, for the sign-in page. In the address of the page, anyone
 * could forge a reason.
 */
export function setSignInFailure(context: Context, reason: string): void {
  const attributes = { ...cookieAttributes(context), maxAge: FAILURE_SECONDS }
  setCookie(context, toCookieName(context, FAILURE_COOKIE), reason, attributes)
}

/** Returns why a sign-in in this browser has just failed, and deletes the reason. */
export function takeSignInFailure(context: Context): string | undefined {
  const name = toCookieName(context, FAILURE_COOKIE)
  const reason = getCookie(context, name)
  if (reason !== undefined) deleteCookie(context, name, cookieAttributes(context))
  return reason
}
