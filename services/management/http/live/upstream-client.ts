import { EyrieError, errorBody } from '@eyrie/contract'
import { tryParseJson } from '@eyrie/contract/parse'
import {
  type Egress,
  fetchFrom,
  openWebSocket,
  readErrorBody,
  resolveServicePath,
  serviceEgress,
} from '@eyrie/kit'
import type { WebSocket } from 'ws'
import type { z } from 'zod'

/** Default of `UpstreamRequest.timeoutMs`, and the time for the handshake of a WebSocket. */
const RESPONSE_TIMEOUT_MS = 5_000
const UNREACHABLE = 'is not reachable'
const MAX_JSON_BYTES = 16 << 20

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
  method?: string
  headers?: Headers
  body?: string | undefined
  /** Time within which the response must start; five seconds by default. */
  timeoutMs?: number
  /** Maximum size of the response; unlimited by default, because it may be a long recording. */
  maxBytes?: number
}

export interface UpstreamOptions {
  /** Name of the service in error messages. */
  name: string
  url: string
  token: string | undefined
  /**
   * Opens the connections. The default permits every address. It is for addresses from the
   * environment only.
   */
  egress?: Egress
}

/** Creates a client of a service. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { name, url, token, egress = serviceEgress } = options
  const credentials: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}

  const upstream: Upstream = {
    async fetch(path, { timeoutMs = RESPONSE_TIMEOUT_MS, ...request } = {}) {
      const headers = { ...Object.fromEntries(request.headers ?? []), ...credentials }
      // The timeout ends when the response starts: its body may be a long recording.
      const timeout = new AbortController()
      const timer = setTimeout(() => timeout.abort(), timeoutMs)
      const response = await fetchFrom(egress, resolveServicePath(url, path), {
        ...request,
        headers,
        signal: timeout.signal,
      })
        .catch(cause => {
          const silent = `has not responded within ${timeoutMs / 1000} s`
          throw toUnavailableError(name, timeout.signal.aborted ? silent : UNREACHABLE, cause)
        })
        .finally(() => clearTimeout(timer))

      if (!response.ok) {
        const body = await response.text().catch(() => '')
        throw toUpstreamError(options, response.status, body)
      }
      return response
    },

    async get(path, schema) {
      const response = await upstream.fetch(path, { maxBytes: MAX_JSON_BYTES })
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
      return waitUntilOpen(socket, address, options)
    },
  }
  return upstream
}

/** Resolves to the WebSocket, paused, when it is open. Rejects as `Upstream.fetch` does. */
function waitUntilOpen(
  socket: WebSocket,
  address: URL,
  options: UpstreamOptions,
): Promise<WebSocket> {
  const opened = Promise.withResolvers<WebSocket>()
  socket.once('open', () => {
    socket.pause()
    opened.resolve(socket)
  })
  socket.once('error', cause => opened.reject(toUnavailableError(options.name, UNREACHABLE, cause)))
  // The service has answered the handshake with an HTTP error.
  socket.once('unexpected-response', async (request, response) => {
    const body = await readErrorBody(response, address)
    opened.reject(toUpstreamError(options, response.statusCode ?? 0, body))
    request.destroy()
  })
  return opened.promise
}

/** Returns the headers with these lower-case names. */
export const pickHeaders = (names: readonly string[], headers: Headers) =>
  new Headers([...headers].filter(([name]) => names.includes(name)))

/** Creates the error of a service that has no usable answer. `problem` follows its name. */
const toUnavailableError = (name: string, problem: string, cause?: Error) =>
  new EyrieError('unavailable', `${name} ${problem}`, { value: { service: name }, cause })

/**
 * Returns the error in the body of a response. Returns `unavailable` if the body contains none, or
 * one that clients must not see.
 */
function toUpstreamError({ name }: UpstreamOptions, status: number, body: string): EyrieError {
  const parsed = errorBody.safeParse(tryParseJson(body))
  // An `auth` error is about the credentials of this appliance.
  if (!parsed.success || parsed.data.code === 'auth') {
    return toUnavailableError(name, `responded with status ${status}`)
  }

  const { code, reason, value } = parsed.data
  return new EyrieError(code, reason, { status, value })
}
