import { findRootMessage } from '@eyrie/client/client-errors'
import { tryParseJson } from '@eyrie/contract/parse'
import type { Terminal } from '../command/terminal.ts'
import { getServiceUrl } from '../engine/engine-access.ts'
import { readSecret } from '../engine/secret-files.ts'

/** Time limit of a request. The service answers within a second, unless its database is slow. */
const TIMEOUT_MS = 30_000

/**
 * Sends a request to the management service. The operator token in the data folder proves that the
 * caller has access to the machine.
 *
 * Returns the response. Throws an `Error` with the service's reason if it rejects the request.
 */
export async function requestOperator(
  path: string,
  terminal: Terminal,
  input: object = {},
  timeoutMs = TIMEOUT_MS,
): Promise<unknown> {
  const token = readOperatorToken(terminal)
  const url = getServiceUrl('management', terminal)
  const signal = AbortSignal.timeout(timeoutMs)
  const { response, text } = await post(new URL(path, url), token, input, signal).catch(cause => {
    const problem = signal.aborted
      ? `the management service at ${url} has not answered within ${timeoutMs / 1000} s: see eyrie logs --service management`
      : `the management service cannot be reached at ${url} (${findRootMessage(cause)}): start the appliance, or set EYRIE_MANAGEMENT_URL to its address`
    throw new Error(problem, { cause })
  })

  const body = tryParseJson(text)
  if (response.ok && body !== undefined) return body
  const { reason } = (body ?? {}) as { reason?: string }
  throw new Error(
    reason ?? `${url} answered ${response.status}: is it the address of the management service?`,
  )
}

/** Reads the token. Throws an `Error` that names the reason and the remedy. */
function readOperatorToken({ data }: Terminal): string {
  const token = readSecret(data, 'operator-token')
  if (token !== undefined) return token
  throw new Error(
    `${data} has no secrets/operator-token: start the appliance first, or set EYRIE_DATA`,
  )
}

/** Sends a request and reads the whole response. Rejects if either fails. */
async function post(
  url: URL,
  token: string,
  input: object,
  signal: AbortSignal,
): Promise<{ response: Response; text: string }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
    signal,
  })
  return { response, text: await response.text() }
}
