import { operatorLink, toConsoleLink } from '@eyrie/contract/management/operator'
import { type Command, parseArguments } from '../command/command.ts'
import { getServiceUrl } from '../engine/engine-access.ts'
import { requestOperator } from './operator-request.ts'

/** `eyrie open`: prints a link that opens the console in a browser on this machine. */
export const openConsoleCommand: Command = {
  usage: '',
  about:
    'Prints a link that opens the console without an account, once, in a browser on this machine.\nRun it on the machine of the appliance.',

  async run(args, terminal) {
    parseArguments(args, {}, [])
    const created = operatorLink.response.parse(await requestOperator(operatorLink.path, terminal))
    terminal.out.write(`${toConsoleLink(getServiceUrl('management', terminal), created)}\n`)
  },
}
