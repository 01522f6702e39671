import { type ErrorBody, errorBody } from '@eyrie/contract'

export type Engine = (method: string, path: string, body?: unknown) => Promise<unknown>

/** Speaks to the engine's API at `url`. Rejects with the engine's own reason. */
export function engineAt(url: string, token: string, signal: AbortSignal): Engine {
  return async (method, path, body) => {
    const response = await fetch(`${url}/api/v3${path}`, {
      method,
      signal,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    const answer: unknown = response.status === 204 ? undefined : await response.json()
    if (!response.ok)
      throw new Error(reasonOf(answer) ?? `${method} ${path}: the engine answered ${response.status}`)
    return answer
  }
}

function reasonOf(answer: unknown): ErrorBody['reason'] | undefined {
  const parsed = errorBody.safeParse(answer)
  return parsed.success ? parsed.data.reason : undefined
}
