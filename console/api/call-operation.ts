import { ApiError, type Envelope, limitTime, readJson, request } from './api-request.ts'
import { loadSession, session } from './user-session.ts'

/** Shown after the user has signed in again. */
const SESSION_ENDED = 'your session had ended: try again'

/** The result of an operation, and the entity tag of its record. */
interface Tagged<T> {
  value: T
  etag: string
}

/**
 * Calls an operation of the management API as the signed-in user: a GET without `input`, otherwise
 * a POST. A GET fails when it takes longer than a few seconds; a POST may take as long as it needs.
 * If the session has ended, also loads the session, so that the console asks the user to sign in.
 * Throws `ApiError`.
 */
export async function callOperation<T>(path: string, input?: object): Promise<T> {
  return (await callTaggedOperation<T>(path, input)).value
}

/**
 * As `callOperation`, on a record that has an entity tag. With the tag `ifMatch`, fails with status
 * 412 if the record was changed since it had this tag.
 */
export async function callTaggedOperation<T>(
  path: string,
  input?: object,
  ifMatch?: string,
): Promise<Tagged<T>> {
  const headers = {
    'Content-Type': 'application/json',
    ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
  }
  const init = input
    ? { method: 'POST', headers, body: JSON.stringify(input) }
    : { signal: limitTime() }
  try {
    const response = await request(`/api/v1${path}`, init)
    const { response: value } = await readJson<Envelope<T>>(response)
    return { value, etag: response.headers.get('ETag') ?? '' }
  } catch (error) {
    if ((error as ApiError).status !== 401) throw error
    await loadSession()
    // An operation may also fail because an engine rejects management.
    throw session.value?.user ? error : new ApiError(SESSION_ENDED, 401, { cause: error })
  }
}
