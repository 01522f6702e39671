import { routesV3 } from '@eyrie/contract'
import { EyrieError } from '@eyrie/contract/errors'
import { tryParseJson } from '@eyrie/contract/parse'
import { toConnectionError, toResponseError } from './client-errors.ts'
import { followOutput, type OutputOptions, type ReceivedMessage } from './output.ts'
import { type Calls, createCalls, type Request } from './route-calls.ts'

const TIMEOUT_MS = 30_000

export interface ClientOptions {
  /** Where the engine answers, such as `http://127.0.0.1:8100`. */
  url: string
  token?: string
  /** A call that has no answer by then rejects with `unavailable`. */
  timeoutMs?: number
  /** Ends every call and every iteration of the output. */
  signal?: AbortSignal
}

/**
 * The engine's API, revision C: one method for each route of the contract. Every call rejects with EyrieError: the
 * engine's own code, reason and value, or `unavailable` where the engine cannot be reached.
 */
export interface Client extends Calls<typeof routesV3> {
  /**
   * What channels find, as it happens and for ever. Each connection begins with `hello`; one that breaks is made again
   * and goes on after the last message, so that no durable message is missed or comes twice. Messages that the engine
   * no longer has are told as `gap`. If the log is another one than before, it is followed from its beginning.
   */
  output(options?: OutputOptions): AsyncGenerator<ReceivedMessage, void, undefined>
}

const tags = new WeakMap<object, string>()

/** The tag of what a call has answered, for `ifMatch`: the edit is then made only if nobody else made one meanwhile. */
export const getEtag = (answer: object): string | undefined => tags.get(answer)

export function createClient({ url, token, timeoutMs = TIMEOUT_MS, signal }: ClientOptions): Client {
  const base = `${url.replace(/\/+$/, '')}/api/v3`

  const send = async ({ method, path, body, type, ifMatch }: Request): Promise<unknown> => {
    const timeout = AbortSignal.timeout(timeoutMs)
    const sent = fetch(base + path, {
      method,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      headers: {
        ...authorizationOf(token),
        ...(body !== undefined && { 'content-type': type }),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      },
      body: body === undefined || isBytes(body) ? body : JSON.stringify(body),
    })
    const [response, text] = await sent
      .then(async response => [response, await response.text()] as const)
      .catch(cause => {
        throw toConnectionError(url, cause)
      })
    if (response.status === 204) return undefined
    const answer = tryParseJson(text)
    if (!response.ok || answer === undefined) throw toResponseError(url, response.status, text)
    return tagged(answer, response)
  }

  return {
    ...createCalls(routesV3, send),
    output: options =>
      followOutput(`${base.replace(/^http/, 'ws')}/output`, authorizationOf(token), signal, options),
  }
}

/** Throws EyrieError `auth` for a token that no header can hold: what `fetch` says of one repeats it. */
function authorizationOf(token: string | undefined): Record<string, string> {
  if (!token) return {}
  if (/[^\x20-\x7e\xa0-\xff]/.test(token))
    throw new EyrieError(
      'auth',
      'the token holds a line break, or what no header takes: send one token alone',
    )
  return { authorization: `Bearer ${token}` }
}

const isBytes = (body: unknown): body is Uint8Array<ArrayBuffer> => body instanceof Uint8Array

function tagged(answer: unknown, { headers }: Response): unknown {
  const etag = headers.get('etag')
  if (etag && typeof answer === 'object' && answer !== null) tags.set(answer, etag)
  return answer
}
