import type { ErrorBody } from '@eyrie/contract/errors'

/** An answer that is none, in words that can be shown to people. */
export class Refusal extends Error {
  /** 0 where nothing has answered. */
  readonly status: number

  constructor(message: string, status: number, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/** Reads JSON from management. Throws a Refusal. */
export async function request<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await ask(path, signal)).json()
}

/** As `request`, for what is not JSON, too much to be had at once, or to be sent. */
export async function ask(path: string, signal?: AbortSignal, init?: RequestInit): Promise<Response> {
  const response = await fetch(path, { ...init, signal }).catch(cause => {
    throw new Refusal('the appliance is not reachable', 0, { cause })
  })
  if (response.ok) return response
  const error: Partial<ErrorBody> = await response.json().catch(() => ({}))
  throw new Refusal(error.reason ?? `the appliance answered ${response.status}`, response.status)
}
