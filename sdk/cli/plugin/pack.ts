import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { styled } from '../terminal.ts'
import { write } from '../write.ts'
import { packPlugin } from './archive.ts'

export const packCommand: Command = {
  usage: '<folder> [--out file.tgz]',
  about: 'Packs the folder of a plugin into <name>-<version>.tgz, which eyrie plugin add takes.',

  async run(args, { out }) {
    const { values, positionals } = parse(args, { out: { type: 'string' } }, ['folder'])
    const { manifest, archive } = await packPlugin(positionals[0]!)
    const file = values.out ?? `${manifest.name}-${manifest.version}.tgz`
    await write(file, archive)
    out.write(`${styled(out, 'green', 'packed')} ${manifest.name} ${manifest.version}: ${file}\n`)
  },
}
