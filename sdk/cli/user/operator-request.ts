import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tryParseJson } from '@eyrie/contract/parse'
import type { Terminal } from '../command/terminal.ts'
import { getServiceAccess, parseServiceUrl } from '../engine/engine-access.ts'

/**
 * Returns the URL of the management service on this machine. Throws `UsageError` if the
 * configured URL is invalid.
 */
export const getManagementUrl = (terminal: Terminal): string =>
  parseServiceUrl(getServiceAccess(terminal).management.url, 'http://127.0.0.1:8080')

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
): Promise<unknown> {
  const token = await readOperatorToken(terminal)
  const url = getManagementUrl(terminal)
  const { response, text } = await post(new URL(path, url), token, input).catch(cause => {
    throw new Error(
      `the management service cannot be reached at ${url}: start the appliance, or set EYRIE_MANAGEMENT_PORT to its port`,
      { cause },
    )
  })

  const body = tryParseJson(text)
  if (response.ok && body !== undefined) return body
  const { reason } = (body ?? {}) as { reason?: string }
  throw new Error(
    reason ?? `${url} answered ${response.status}: is it the address of the management service?`,
  )
}

/** Reads the token. Rejects with an `Error` that names the reason and the remedy. */
function readOperatorToken({ data }: Terminal): Promise<string> {
  const file = join(data, 'secrets/operator-token')
  const read = readFile(file, 'utf8').then(text => text.trim())
  return read.catch((cause: NodeJS.ErrnoException) => {
    const problem =
      cause.code === 'ENOENT'
        ? `${data} has no secrets/operator-token: start the appliance first, or set EYRIE_DATA`
        : `${file} cannot be read (${cause.code}): run the command as root, or as the user of the appliance`
    throw new Error(problem, { cause })
  })
}

/** Sends a request and reads the whole response. Rejects if either fails. */
async function post(
  url: URL,
  token: string,
  input: object,
): Promise<{ response: Response; text: string }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  })
  return { response, text: await response.text() }
}
