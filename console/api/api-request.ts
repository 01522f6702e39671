import type { ErrorBody } from '@eyrie/contract/errors'

/** A request to the management service has failed. The message can be shown to users. */
export class ApiError extends Error {
  /** HTTP status; 0 if there was no response. */
  readonly status: number
  /** Details of the error for programs, which depend on the operation. */
  readonly value: unknown

  constructor(
    message: string,
    status: number,
    { value, ...options }: ErrorOptions & { value?: unknown } = {},
  ) {
    super(message, options)
    this.status = status
    this.value = value
  }
}

export const UNREACHABLE = 'the appliance is unreachable'
/**
 * In a broken network, packets are lost without an error, so a request would wait forever.
 */
export const READ_TIMEOUT_MS = 10_000

/** How the management API wraps the result of an operation, and the details of an error. */
export interface Envelope<T = unknown> {
  message: string
  response: T
}

/**
 * Fetches JSON from the management service. Throws `ApiError`, also when the response takes longer
 * than a few seconds.
 */
export async function fetchJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  return readJson(await request(path, { signal: limitTime(signal) }))
}

/**
 * Like `fetch`, but throws `ApiError` when the appliance is unreachable or responds
 * with an error status.
 */
export async function request(path: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(path, init).catch(cause => {
    throw new ApiError(UNREACHABLE, 0, { cause })
  })
  if (response.ok) return response

  const { status } = response
  // Errors of the management API are in an envelope, and those of other paths are not. A proxy may
  // respond without JSON.
  const error: Partial<ErrorBody & Envelope> = await response.json().catch(() => ({}))
  const reason = error.reason ?? error.message ?? `the appliance responded with status ${status}`
  throw new ApiError(reason, status, { value: error.value ?? error.response })
}

/** Returns a signal that aborts a read after its time limit, and when `signal` aborts. */
export function limitTime(signal?: AbortSignal): AbortSignal {
  const timeout = AbortSignal.timeout(READ_TIMEOUT_MS)
  return signal ? AbortSignal.any([signal, timeout]) : timeout
}

/** Reads the body of a response. Throws `ApiError` when the connection is lost before its end. */
export async function readJson<T>(response: Response): Promise<T> {
  const text = await response.text().catch(cause => {
    throw new ApiError(UNREACHABLE, 0, { cause })
  })
  return JSON.parse(text)
}
