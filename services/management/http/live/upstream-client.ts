import { EyrieError, errorBody } from '@eyrie/contract'
import { tryParseJson } from '@eyrie/contract/parse'
import { WebSocket } from 'ws'
import type { z } from 'zod'

const TIMEOUT_MS = 5_000

/** Client of another service of the appliance. Its token is not visible to callers. */
export interface Upstream {
  /** Throws `EyrieError`: `unavailable` if the service does not answer, otherwise the error that it answered. */
  fetch(path: string, request?: UpstreamRequest): Promise<Response>
  get<T extends z.ZodType>(path: string, answer: T): Promise<z.output<T>>
  /** Resolves to an open WebSocket, paused so that its first message is not missed. Throws as `fetch` does. */
  connect(path: string): Promise<WebSocket>
}

export interface UpstreamRequest {
  method: string
  headers?: Headers
  body?: string | undefined
}

export interface UpstreamOptions {
  name: string
  url: string
  token: string | undefined
  /** Whether callers send credentials of their own, so that they also receive `auth` errors of the service. */
  passesAuthErrors?: boolean
}

export function createUpstream({ name, url, token, passesAuthErrors = false }: UpstreamOptions): Upstream {
  const credentials: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}

  const toError = (status: number, body: string) => toUpstreamError(name, status, body, passesAuthErrors)

  const upstream: Upstream = {
    async fetch(path, request) {
      // The timeout covers only the start of the answer; the body may be as long as a recording.
      const timeout = new AbortController()
      const timer = setTimeout(() => timeout.abort(), TIMEOUT_MS)
      const headers = { ...Object.fromEntries(request?.headers ?? []), ...credentials }
      const response = await fetch(new URL(path, url), { ...request, headers, signal: timeout.signal })
        .catch(cause => {
          throw toUnreachableError(name, cause)
        })
        .finally(() => clearTimeout(timer))
      if (!response.ok) throw toError(response.status, await response.text())
      return response
    },

    async get(path, answer) {
      const response = await upstream.fetch(path)
      return answer.parse(await response.json())
    },

    connect(path) {
      const address = new URL(path, url)
      address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
      const socket = new WebSocket(address, {
        headers: credentials,
        handshakeTimeout: TIMEOUT_MS,
        perMessageDeflate: false,
      })
      return new Promise((resolve, reject) => {
        socket.once('open', () => {
          socket.pause()
          resolve(socket)
        })
        socket.once('error', cause => reject(toUnreachableError(name, cause)))
        socket.once('unexpected-response', async (request, response) => {
          const chunks = await response.toArray().catch(() => [])
          reject(toError(response.statusCode ?? 0, Buffer.concat(chunks).toString()))
          request.destroy()
        })
      })
    },
  }
  return upstream
}

/** Returns the headers with these lower-case names. */
export const pickHeaders = (names: readonly string[], headers: Headers) =>
  new Headers([...headers].filter(([name]) => names.includes(name)))

const toUnreachableError = (name: string, cause: Error) =>
  new EyrieError('unavailable', `${name} is not reachable`, { value: { service: name }, cause })

/** Returns the error that the service answered, or `unavailable` if it cannot be passed on. */
function toUpstreamError(name: string, status: number, body: string, passesAuthErrors: boolean): EyrieError {
  const parsed = errorBody.safeParse(tryParseJson(body))
  if (!parsed.success || (parsed.data.code === 'auth' && !passesAuthErrors)) {
    return new EyrieError('unavailable', `${name} answered ${status}`, { value: { service: name } })
  }
  return new EyrieError(parsed.data.code, parsed.data.reason, { status, value: parsed.data.value })
}
