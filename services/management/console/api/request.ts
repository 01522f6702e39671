import type { ErrorBody } from '@eyrie/contract/errors'

/** Reads JSON from management. Throws an Error whose message can be shown to people. */
export async function request<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await ask(path, signal)).json()
}

/** As `request`, for what is not JSON, too much to be had at once, or to be sent. */
export async function ask(path: string, signal?: AbortSignal, init?: RequestInit): Promise<Response> {
  const response = await fetch(path, { ...init, signal }).catch(cause => {
    throw new Error('the appliance is not reachable', { cause })
  })
  if (response.ok) return response
  const error: Partial<ErrorBody> = await response.json().catch(() => ({}))
  throw new Error(error.reason ?? `the appliance answered ${response.status}`)
}
