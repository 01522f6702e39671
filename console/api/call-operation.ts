import { ApiError, type Envelope, limitTime, readJson, request } from './api-request.ts'
import { loadSession, session } from './user-session.ts'

/** Shown after the user has signed in again. */
const SESSION_ENDED = 'your session had ended: try again'

/**
 * Calls an operation of the management API as the signed-in user: a GET without `input`, otherwise
 * a POST. A GET fails when it takes longer than a few seconds; a POST may take as long as it needs.
 * If the session has ended, also loads the session, so that the console asks the user to sign in.
 * Throws `ApiError`.
 */
export async function callOperation<T>(path: string, input?: object): Promise<T> {
  const headers = { 'Content-Type': 'application/json' }
  const init = input
    ? { method: 'POST', headers, body: JSON.stringify(input) }
    : { signal: limitTime() }
  try {
    const { response } = await readJson<Envelope<T>>(await request(`/api/v1${path}`, init))
    return response
  } catch (error) {
    if ((error as ApiError).status !== 401) throw error
    await loadSession()
    // An operation may also fail because an engine rejects management.
    throw session.value?.user ? error : new ApiError(SESSION_ENDED, 401, { cause: error })
  }
}
