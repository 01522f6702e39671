import { resolve } from 'node:path'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { json, styled } from '../terminal.ts'
import { type Contents, summary } from './contents.ts'
import { upkeep } from './run.ts'

export const restoreCommand: Command = {
  usage: '<file.tar.gz> [--force] [--json]',
  about:
    'Puts back what a backup holds, of this release or an earlier one, into an installation that is stopped and empty.\n' +
    '--force replaces what there is.',

  async run(args, terminal) {
    const options = { force: { type: 'boolean' }, json: { type: 'boolean' } } as const
    const { values, positionals } = parse(args, options, ['file'])
    const path = resolve(positionals[0]!)
    const force = values.force ? ['--force'] : []
    const contents = await upkeep<Contents>(['restore', path, ...force], terminal)
    if (values.json) return json(terminal.out, { restored: path, ...contents })
    const made = `made ${contents.made_at} by release ${contents.version}`
    terminal.out.write(`${styled(terminal.out, 'green', 'restored')} ${summary(contents)}, ${made}\n`)
  },
}
