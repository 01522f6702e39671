import type { Terminal } from '../command/terminal.ts'
import { getServiceAccess, parseServiceUrl, readSecret } from '../engine/engine-access.ts'

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
  const token = readSecret(terminal.data, 'operator-token')
  if (!token) {
    throw new Error(
      `${terminal.data} has no secrets/operator-token: start the appliance first, or set EYRIE_DATA`,
    )
  }

  const url = getManagementUrl(terminal)
  const response = await fetch(new URL(path, url), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  }).catch(cause => {
    throw new Error(
      `the management service cannot be reached at ${url}: start the appliance, or set EYRIE_MANAGEMENT_PORT to its port`,
      { cause },
    )
  })

  const body: unknown = await response.json().catch(() => ({}))
  if (response.ok) return body
  const { reason } = body as { reason?: string }
  throw new Error(reason ?? `the management service answered ${response.status}`)
}
