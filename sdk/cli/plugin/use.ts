import { connect, engineOptions } from '../engine/connect.ts'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { styled } from '../terminal.ts'

export const usePluginCommand: Command = {
  usage: '<name> <version> [--url URL] [--token TOKEN]',
  about:
    'Switches to another version of a plugin, or back. Only channels that use it begin anew; where a pipeline does not\n' +
    'fit the version, nothing is switched.',

  async run(args, terminal) {
    const { values, positionals } = parse(args, engineOptions, ['name', 'version'])
    const [name, version] = positionals as [string, string]
    const { active } = await connect(values, terminal).plugin.use(name, { version })
    terminal.out.write(`${styled(terminal.out, 'green', 'active')} ${name} ${active}\n`)
  },
}
