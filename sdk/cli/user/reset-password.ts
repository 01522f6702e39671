import { operatorPasswordReset } from '@eyrie/contract/management/user'
import { type Command, parseArguments } from '../command/command.ts'
import type { Terminal } from '../command/terminal.ts'
import { assertServiceUrl, getServiceAccess, readSecret } from '../engine/engine-access.ts'

/** `eyrie user reset`: replaces the password of an administrator who can no longer sign in. */
export const resetPasswordCommand: Command = {
  usage: '<e-mail address>',
  about:
    'Sets a new password for an administrator, prints it once and ends their sessions. Run it on the machine of the appliance.',

  async run(args, terminal) {
    const { positionals } = parseArguments(args, {}, ['e-mail address'])
    const [email] = positionals
    const { password } = operatorPasswordReset.response.parse(await requestReset(email, terminal))
    terminal.out.write(
      `The new password of ${email} is ${password}\nIt is not shown again: sign in and change it.\n`,
    )
  },
}

/**
 * Sends the request to the management service. The operator token in the data folder proves that the caller has access to
 * the machine.
 *
 * Returns the response. Throws an `Error` with the service's reason if it rejects the request.
 */
async function requestReset(email: string, terminal: Terminal): Promise<unknown> {
  const token = readSecret(terminal.data, 'operator-token')
  if (!token)
    throw new Error(
      `${terminal.data} has no secrets/operator-token: start the appliance first, or set EYRIE_DATA`,
    )

  const url = assertServiceUrl(getServiceAccess(terminal).management.url, 'http://127.0.0.1:8080')
  const response = await fetch(new URL(operatorPasswordReset.path, url), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ email }),
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
