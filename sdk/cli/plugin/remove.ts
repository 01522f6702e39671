import { connect, engineOptions } from '../engine/connect.ts'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { styled } from '../terminal.ts'

export const removePluginCommand: Command = {
  usage: '<name> <version> [--url URL] [--token TOKEN]',
  about: 'Removes a version of a plugin that was added, unless pipelines use it.',

  async run(args, terminal) {
    const { values, positionals } = parse(args, engineOptions, ['name', 'version'])
    const [name, version] = positionals as [string, string]
    await connect(values, terminal).plugin.remove({ name, version })
    terminal.out.write(`${styled(terminal.out, 'green', 'removed')} ${name} ${version}\n`)
  },
}
