import type { SessionStatus } from '@eyrie/contract/console-api'
import { signal } from '@preact/signals'
import { ask, type Refusal, request } from './request.ts'

/** Who has signed in; undefined until it is known. */
export const session = signal<SessionStatus | undefined>(undefined)

/** Why it is not known. */
export const sessionRefusal = signal<Refusal | undefined>(undefined)

const PATH = '/session'
/** An appliance that cannot tell yet is asked again. */
const AGAIN_MS = 2_000

export async function loadSession(): Promise<void> {
  try {
    session.value = await request<SessionStatus>(PATH)
    if (session.value.starting) setTimeout(loadSession, AGAIN_MS)
  } catch (error) {
    sessionRefusal.value = error as Refusal
    setTimeout(loadSession, AGAIN_MS)
  }
}

/** Throws a Refusal. */
export async function signIn(email: string, password: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json' }
  await ask(PATH, undefined, { method: 'POST', headers, body: JSON.stringify({ email, password }) })
  await loadSession()
}

export async function signOut(): Promise<void> {
  await ask(PATH, undefined, { method: 'DELETE' })
  await loadSession()
}
