import { routesV3 } from '@eyrie/contract'
import { EyrieError } from '@eyrie/contract/errors'
import { tryParseJson } from '@eyrie/contract/parse'
import { toConnectionError, toResponseError } from './client-errors.ts'
import { followOutput, type OutputOptions, type ReceivedMessage } from './follow-output.ts'
import { type Calls, createCalls, type Request } from './route-calls.ts'

const TIMEOUT_MS = 30_000

export interface ClientOptions {
  /** URL of the engine, such as `http://127.0.0.1:8100`. */
  url: string
  token?: string
  /** Timeout of a call, which then rejects with `unavailable`. */
  timeoutMs?: number
  /** Aborts all calls and ends all iterations of the output. */
  signal?: AbortSignal
}

/**
 * Client of the engine API v3, with one method for each route of the contract. Calls reject with `EyrieError`: with the
 * code, reason and value that the engine returned, or with `unavailable` if the engine cannot be reached.
 */
export interface Client extends Calls<typeof routesV3> {
  /**
   * Follows the output of all channels. Each connection starts with `hello`. A lost connection is re-established and
   * continues after the last message, so that every durable message is received exactly once. Messages that the engine no
   * longer has are reported as `gap`. If the engine has a new log, it is followed from its start.
   */
  output(options?: OutputOptions): AsyncGenerator<ReceivedMessage, void, undefined>
}

const etags = new WeakMap<object, string>()

/** The ETag of a response. Passed as `ifMatch`, an update fails if the resource has changed in the meantime. */
export const getEtag = (response: object): string | undefined => etags.get(response)

export function createClient({ url, token, timeoutMs = TIMEOUT_MS, signal }: ClientOptions): Client {
  const base = `${url.replace(/\/+$/, '')}/api/v3`

  const send = async ({ method, path, body, type, ifMatch }: Request): Promise<unknown> => {
    const timeout = AbortSignal.timeout(timeoutMs)
    const request = fetch(base + path, {
      method,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      headers: {
        ...createAuthorizationHeader(token),
        ...(body !== undefined && { 'content-type': type }),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      },
      body: body === undefined || isBytes(body) ? body : JSON.stringify(body),
    })
    const [response, text] = await request
      .then(async response => [response, await response.text()] as const)
      .catch(cause => {
        throw toConnectionError(url, cause)
      })
    if (response.status === 204) return undefined
    const parsed = tryParseJson(text)
    if (!response.ok || parsed === undefined) throw toResponseError(url, response.status, text)
    return rememberEtag(parsed, response)
  }

  return {
    ...createCalls(routesV3, send),
    output: options =>
      followOutput(
        `${base.replace(/^http/, 'ws')}/output`,
        createAuthorizationHeader(token),
        signal,
        options,
      ),
  }
}

/** Throws `EyrieError` (`auth`) for a token that is not valid in a header. The error of `fetch` would contain the token. */
function createAuthorizationHeader(token: string | undefined): Record<string, string> {
  if (!token) return {}
  if (/[^\x20-\x7e\xa0-\xff]/.test(token))
    throw new EyrieError(
      'auth',
      'the token contains a line break or another character that is not allowed in headers: send a single token',
    )
  return { authorization: `Bearer ${token}` }
}

const isBytes = (body: unknown): body is Uint8Array<ArrayBuffer> => body instanceof Uint8Array

function rememberEtag(body: unknown, { headers }: Response): unknown {
  const etag = headers.get('etag')
  if (etag && typeof body === 'object' && body !== null) etags.set(body, etag)
  return body
}
