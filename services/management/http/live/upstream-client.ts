import { EyrieError, errorBody } from '@eyrie/contract'
import { tryParseJson } from '@eyrie/contract/parse'
import {
  type Egress,
  fetchFrom,
  openWebSocket,
  resolveServicePath,
  serviceEgress,
} from '@eyrie/kit'
import type { WebSocket } from 'ws'
import type { z } from 'zod'

const RESPONSE_TIMEOUT_MS = 5_000

/**
 * A client of another service of the appliance, the engine or the media service. It adds the token
 * of the service, which browsers must not see.
 */
export interface Upstream {
  /**
   * Throws `EyrieError`: `unavailable` if the service does not respond, otherwise the
   * error in the response.
   */
  fetch(path: string, request?: UpstreamRequest): Promise<Response>
  /** Resolves to the JSON body of the response, parsed with `schema`. Throws as `fetch` does. */
  get<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema>>
  /**
   * Resolves to an open WebSocket, paused until the caller has added its listeners.
   * Throws as `fetch` does.
   */
  connect(path: string): Promise<WebSocket>
}

export interface UpstreamRequest {
  method: string
  headers?: Headers
  body?: string | undefined
}

export interface UpstreamOptions {
  /** Name of the service in error messages. */
  name: string
  url: string
  token: string | undefined
  /** Opens the connections to a service whose address is not from the environment. */
  egress?: Egress
  /**
   * Whether `auth` errors of the service are passed on. Set if requests contain the
   * caller's credentials.
   */
  passesAuthErrors?: boolean
}

export function createUpstream({
  name,
  url,
  token,
  egress = serviceEgress,
  passesAuthErrors = false,
}: UpstreamOptions): Upstream {
  const credentials: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}

  const toError = (status: number, body: string) =>
    toUpstreamError(name, status, body, passesAuthErrors)

  const upstream: Upstream = {
    async fetch(path, request) {
      // The timeout ends when the response starts: its body may be a long recording.
      const timeout = new AbortController()
      const timer = setTimeout(() => timeout.abort(), RESPONSE_TIMEOUT_MS)
      const headers = { ...Object.fromEntries(request?.headers ?? []), ...credentials }
      const response = await fetchFrom(egress, resolveServicePath(url, path), {
        ...request,
        headers,
        signal: timeout.signal,
      })
        .catch(cause => {
          throw toUnreachableError(name, cause)
        })
        .finally(() => clearTimeout(timer))

      if (!response.ok) throw toError(response.status, await response.text())
      return response
    },

    async get(path, schema) {
      const response = await upstream.fetch(path)
      return schema.parse(await response.json())
    },

    connect(path) {
      const address = resolveServicePath(url, path)
      address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
      const socket = openWebSocket(egress, address, {
        headers: credentials,
        handshakeTimeout: RESPONSE_TIMEOUT_MS,
        perMessageDeflate: false,
      })

      return new Promise((resolve, reject) => {
        socket.once('open', () => {
          socket.pause()
          resolve(socket)
        })
        socket.once('error', cause => reject(toUnreachableError(name, cause)))
        // The service has answered the handshake with an HTTP error.
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

/**
 * Returns the error in a response of the service, or `unavailable` if the caller must not or
 * cannot receive this error.
 */
function toUpstreamError(
  name: string,
  status: number,
  body: string,
  passesAuthErrors: boolean,
): EyrieError {
  const parsed = errorBody.safeParse(tryParseJson(body))
  // An `auth` error is about the token of this appliance, unless the request contained the
  // caller's credentials.
  const isHidden = parsed.data?.code === 'auth' && !passesAuthErrors
  if (!parsed.success || isHidden) {
    const reason = `${name} responded with status ${status}`
    return new EyrieError('unavailable', reason, { value: { service: name } })
  }

  const { code, reason, value } = parsed.data
  return new EyrieError(code, reason, { status, value })
}
