import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { json, styled } from '../terminal.ts'
import { type Contents, summary } from './contents.ts'
import { upkeep } from './run.ts'

export const backupCommand: Command = {
  usage: '<file.tar.gz> [--json]',
  about:
    'Writes everything that cannot be made anew into one file: database, configuration, models, plugins, images, secrets.\n' +
    'Eyrie may be running. Keep the file where nobody else can read it.',

  async run(args, terminal) {
    const { values, positionals } = parse(args, { json: { type: 'boolean' } }, ['file'])
    const path = resolve(positionals[0]!)
    const contents = await upkeep<Contents>(['backup', path], terminal)
    const { size } = await stat(path)
    if (values.json) return json(terminal.out, { backup: path, bytes: size, ...contents })
    terminal.out.write(`${styled(terminal.out, 'green', 'wrote')} ${path}: ${summary(contents)}\n`)
  },
}
