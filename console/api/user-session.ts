import type { SessionStatus } from '@eyrie/contract/console-api'
import type { SignInChallenge } from '@eyrie/contract/management/index'
import { signal } from '@preact/signals'
import { type ApiError, fetchJson, request } from './api-request.ts'

const SESSION_PATH = '/session'
const RETRY_MS = 2_000

export type SessionUser = NonNullable<SessionStatus['user']>

/**
 * The session of this browser: the signed-in user and the access rules. Undefined until it is
 * loaded.
 */
export const session = signal<SessionStatus | undefined>(undefined)

/**
 * Returns whether the user sees only what is assigned. Superadmins see everything, and so does a
 * browser that has opened a link.
 */
export function isLimitedToAssignments(): boolean {
  const user = session.value?.user
  return user ? user.role !== 'superadmin' : false
}

/** Why the last attempt to load the session failed; undefined if it did not. */
export const sessionError = signal<ApiError | undefined>(undefined)

/** Loads the session. If the appliance is starting or unreachable, retries in the background. */
export async function loadSession(): Promise<void> {
  try {
    session.value = await fetchJson<SessionStatus>(SESSION_PATH)
    sessionError.value = undefined
    if (session.value.starting) setTimeout(loadSession, RETRY_MS)
  } catch (error) {
    sessionError.value = error as ApiError
    setTimeout(loadSession, RETRY_MS)
  }
}

/**
 * Signs in and loads the new session. Returns the challenge if a code of the authenticator app is
 * required too. Throws `ApiError` for wrong credentials.
 */
export async function signIn(email: string, password: string): Promise<string | undefined> {
  try {
    await post(SESSION_PATH, { email, password })
  } catch (error) {
    const { challenge } = ((error as ApiError).value ?? {}) as Partial<SignInChallenge>
    if (challenge !== undefined) return challenge
    throw error
  }
  await loadSession()
  return undefined
}

/**
 * Completes a sign-in with a code and loads the new session. Throws `ApiError` for a wrong code.
 */
export async function submitCode(challenge: string, code: string): Promise<void> {
  await post(`${SESSION_PATH}/code`, { challenge, code })
  await loadSession()
}

/** Signs out, discards the page and reloads the session. Throws `ApiError`. */
export async function signOut(): Promise<void> {
  await request(SESSION_PATH, { method: 'DELETE' })
  session.value = undefined
  await loadSession()
}

const post = (path: string, body: object) =>
  request(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
