import { operatorPasswordReset } from '@eyrie/contract/management/user'
import { requireAddress, secretIn } from '../engine/connect.ts'
import { servicesBeside } from '../engine/services.ts'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import type { Terminal } from '../terminal.ts'

export const resetUserCommand: Command = {
  usage: '<e-mail address>',
  about:
    'Gives an administrator a new password, shown once, and ends their sessions. To be run on the box itself.',

  async run(args, terminal) {
    const { positionals } = parse(args, {}, ['e-mail address'])
    const email = positionals[0]!
    const { password } = operatorPasswordReset.response.parse(await ask(email, terminal))
    terminal.out.write(
      `The new password of ${email} is ${password}\nIt is not shown again: sign in and change it.\n`,
    )
  },
}

async function ask(email: string, terminal: Terminal): Promise<unknown> {
  const token = secretIn(terminal.data, 'operator-token')
  if (!token)
    throw new Error(
      `${terminal.data} has no secrets/operator-token: start the appliance first, or set EYRIE_DATA`,
    )
  const url = requireAddress(servicesBeside(terminal).management.url, 'http://127.0.0.1:8080')
  const response = await fetch(new URL(operatorPasswordReset.path, url), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ email }),
  }).catch(cause => {
    throw new Error(
      `management is not reachable at ${url}: start the appliance, or set EYRIE_MANAGEMENT_PORT as for it`,
      { cause },
    )
  })
  const answer: unknown = await response.json().catch(() => ({}))
  if (response.ok) return answer
  const { reason } = answer as { reason?: string }
  throw new Error(reason ?? `management answered ${response.status}`)
}
