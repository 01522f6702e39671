import type { ErrorBody } from '@eyrie/contract/errors'

/** A request to the management service has failed. The message can be shown to users. */
export class ApiError extends Error {
  /** HTTP status; 0 if there was no response. */
  readonly status: number

  constructor(message: string, status: number, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/** Fetches JSON from the management service. Throws `ApiError`. */
export async function fetchJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await request(path, { signal })
  return response.json()
}

/** Like `fetch`, but throws `ApiError` when the appliance is unreachable or responds with an error status. */
export async function request(path: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(path, init).catch(cause => {
    throw new ApiError('the appliance is unreachable', 0, { cause })
  })
  if (response.ok) return response

  const { status } = response
  const error: Partial<ErrorBody> = await response.json().catch(() => ({}))
  throw new ApiError(error.reason ?? `the appliance responded with status ${status}`, status)
}
