import { operatorPasswordReset } from '@eyrie/contract/management/operator'
import { type Command, parseArguments } from '../command/command.ts'
import { requestOperator } from './operator-request.ts'

/** `eyrie user reset`: replaces the password of an administrator who can no longer sign in. */
export const resetPasswordCommand: Command = {
  usage: '<e-mail address>',
  about:
    'Sets a new password for an administrator, prints it once and ends their sessions. Run it on the machine of the appliance.',

  async run(args, terminal) {
    const { positionals } = parseArguments(args, {}, ['e-mail address'])
    const [email] = positionals
    const { password } = operatorPasswordReset.response.parse(
      await requestOperator(operatorPasswordReset.path, terminal, { email }),
    )
    terminal.out.write(
      `The new password of ${email} is ${password}\nIt is not shown again: sign in and change it.\n`,
    )
  },
}
