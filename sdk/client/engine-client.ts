import type { Agent } from 'node:http'
import { routesV3 } from '@eyrie/contract'
import { EyrieError } from '@eyrie/contract/errors'
import { tryParseJson } from '@eyrie/contract/parse'
import { toConnectionError, toResponseError } from './client-errors.ts'
import { followOutput, type OutputOptions, type ReceivedMessage } from './follow-output.ts'
import { type Calls, createCalls, type Request } from './route-calls.ts'

const TIMEOUT_MS = 30_000

/**
 * A body is sent at this rate or faster, even over a slow network: 200 kbit/s. The upload of a
 * plugin with several megabytes may take longer than the timeout.
 */
const MIN_UPLOAD_BYTES_PER_MS = 25

/** The HTTP status of a successful response without a body. */
const NO_CONTENT = 204

/** How a client connects to its engine. */
export interface ClientOptions {
  /** URL of the engine, such as `http://127.0.0.1:8100`. */
  url: string
  token?: string
  /**
   * Timeout of a call, which then rejects with `unavailable`. A call with a large body has more
   * time.
   */
  timeoutMs?: number
  /** Aborts all calls and ends every iteration over the output. */
  signal?: AbortSignal
  /** How the client connects to the engine; by default, as Node.js does. */
  transport?: Transport
}

/** The network access of a client. A service that restricts its connections passes its own. */
export interface Transport {
  fetch(url: string, request: TransportRequest): Promise<Response>
  /** Returns the agent that opens the connection of a WebSocket. */
  agent?(url: string): Agent
}

export interface TransportRequest {
  method: string
  headers: Record<string, string>
  body: string | Uint8Array<ArrayBuffer> | undefined
  signal: AbortSignal
}

/** Connects as Node.js does. */
export const defaultTransport: Transport = {
  fetch: (url, request) => fetch(url, request as RequestInit),
}

/**
 * Client of the engine API v3, with one method for each route of the contract. Calls reject with
 * `EyrieError`: with the code, reason and value that the engine returned, or with `unavailable` if
 * the engine cannot be reached.
 */
export interface Client extends Calls<typeof routesV3> {
  /**
   * Follows the output of all channels: a stream of messages with their results. Each connection
   * starts with a `hello` message. After the connection is lost, the client reconnects and
   * continues after the last message, so that every durable message (one that the engine stores in
   * its log) is received exactly once. A `gap` message reports messages that the engine no longer
   * stores. If the engine has started a new log, the client follows that log from its start.
   */
  output(options?: OutputOptions): AsyncGenerator<ReceivedMessage, void, undefined>
}

/** The ETag of each response body, for as long as the caller uses the body. */
const etags = new WeakMap<object, string>()

/**
 * Returns the ETag of a response. An update with this ETag as `ifMatch` fails if the
 * resource has changed since.
 */
export const getEtag = (response: object): string | undefined => etags.get(response)

/** Creates a client. It connects with the first call. */
export function createClient({
  url,
  token,
  timeoutMs = TIMEOUT_MS,
  signal,
  transport = defaultTransport,
}: ClientOptions): Client {
  const baseUrl = `${url.replace(/\/+$/, '')}/api/v3`

  async function send({ method, path, body, type, ifMatch }: Request): Promise<unknown> {
    const headers = createAuthorizationHeader(token)
    if (body !== undefined) headers['content-type'] = type
    if (ifMatch !== undefined) headers['if-match'] = ifMatch
    const encodedBody = body === undefined || isBytes(body) ? body : JSON.stringify(body)

    const uploadMs = Math.floor((encodedBody?.length ?? 0) / MIN_UPLOAD_BYTES_PER_MS)
    const timeout = AbortSignal.timeout(timeoutMs + uploadMs)
    const { response, text } = await fetchText(transport, baseUrl + path, {
      method,
      headers,
      body: encodedBody,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    }).catch(cause => {
      throw toConnectionError(url, cause)
    })
    if (response.status === NO_CONTENT) return undefined

    const responseBody = tryParseJson(text)
    if (!response.ok || responseBody === undefined) {
      throw toResponseError(url, response.status, text)
    }
    storeEtag(responseBody, response)
    return responseBody
  }

  return {
    ...createCalls(routesV3, send),
    output(options) {
      const outputUrl = `${baseUrl.replace(/^http/, 'ws')}/output`
      return followOutput(
        {
          url: outputUrl,
          headers: createAuthorizationHeader(token),
          agent: transport.agent?.(outputUrl),
          signal,
        },
        options,
      )
    },
  }
}

/** Sends a request and reads the whole response, so that a failure of either rejects here. */
async function fetchText(
  transport: Transport,
  url: string,
  request: TransportRequest,
): Promise<{ response: Response; text: string }> {
  const response = await transport.fetch(url, request)
  return { response, text: await response.text() }
}

/**
 * Creates the Authorization header, if there is a token. Throws `EyrieError` (`auth`) for a token
 * that is invalid in a header. The error message of `fetch` would contain the token.
 */
function createAuthorizationHeader(token: string | undefined): Record<string, string> {
  if (!token) return {}
  if (/[^\x20-\x7e\xa0-\xff]/.test(token)) {
    throw new EyrieError(
      'auth',
      'the token contains a line break or another character that is not allowed in headers: send a single token',
    )
  }
  return { authorization: `Bearer ${token}` }
}

const isBytes = (body: unknown): body is Uint8Array<ArrayBuffer> => body instanceof Uint8Array

function storeEtag(body: unknown, { headers }: Response): void {
  const etag = headers.get('etag')
  if (etag && typeof body === 'object' && body !== null) etags.set(body, etag)
}
