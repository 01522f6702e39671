import type { SessionStatus } from '@eyrie/contract/console-api'
import { signal } from '@preact/signals'
import { type ApiError, fetchJson, request } from './api-request.ts'

/** The session of this browser; undefined until it is known. */
export const session = signal<SessionStatus | undefined>(undefined)

/** Why the last attempt to load the session failed. */
export const sessionError = signal<ApiError | undefined>(undefined)

const PATH = '/session'
const RETRY_MS = 2_000

/** Loads the session, and retries while the appliance is starting or unreachable. */
export async function loadSession(): Promise<void> {
  try {
    session.value = await fetchJson<SessionStatus>(PATH)
    if (session.value.starting) setTimeout(loadSession, RETRY_MS)
  } catch (error) {
    sessionError.value = error as ApiError
    setTimeout(loadSession, RETRY_MS)
  }
}

/** Throws `ApiError`. */
export async function signIn(email: string, password: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json' }
  await request(PATH, { method: 'POST', headers, body: JSON.stringify({ email, password }) })
  await loadSession()
}

/** Throws `ApiError`. */
export async function signOut(): Promise<void> {
  await request(PATH, { method: 'DELETE' })
  await loadSession()
}
