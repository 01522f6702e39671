import { EyrieError, errorBody } from '@eyrie/contract/errors'
import { type EgressRequest, fetchService } from '@eyrie/kit'
import type { MediaAccess } from './frame-picture.ts'

/**
 * Sends a request to the media service. Throws the media service's own error as `EyrieError`, or
 * `unavailable` if the media service is unreachable or does not accept the engine.
 */
export async function requestMedia(
  { url, token }: MediaAccess,
  path: string,
  request: EgressRequest,
): Promise<Response> {
  const headers = { ...request.headers, ...(token && { Authorization: `Bearer ${token}` }) }
  const response = await fetchService(url, path, { ...request, headers }).catch(cause => {
    throw new EyrieError('unavailable', 'the media service is unreachable: try again later', {
      cause,
    })
  })
  if (response.ok) return response

  // The body is not JSON if a proxy has answered, or the media service is overloaded.
  const error = errorBody.safeParse(await response.json().catch(() => undefined))
  // An `auth` error is about the token of the engine, not that of the client.
  if (!error.success || error.data.code === 'auth') {
    throw new EyrieError(
      'unavailable',
      `the media service answered ${response.status}: try again later`,
    )
  }
  const { code, reason, value } = error.data
  throw new EyrieError(code, reason, { status: response.status, ...(value && { value }) })
}
