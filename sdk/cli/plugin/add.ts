import { stat } from 'node:fs/promises'
import { connect, engineOptions } from '../engine/connect.ts'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { read } from '../read.ts'
import { json, styled } from '../terminal.ts'
import { packPlugin } from './archive.ts'

export const addPluginCommand: Command = {
  usage: '<folder|file.tgz> [--json] [--url URL] [--token TOKEN]',
  about:
    'Adds a version of a plugin to the engine. The first of its name is active at once, others when eyrie plugin use\n' +
    'switches to them.',

  async run(args, terminal) {
    const options = { json: { type: 'boolean' }, ...engineOptions } as const
    const { values, positionals } = parse(args, options, ['folder or package'])
    const path = positionals[0]!
    const isFolder = await stat(path).then(
      found => found.isDirectory(),
      () => false,
    )
    const engine = connect(values, terminal)
    const before = await engine.plugin.list()
    const plugin = await engine.plugin.upload(
      isFolder ? (await packPlugin(path)).archive : new Uint8Array(await read(path)),
    )
    const known = before.find(({ name }) => name === plugin.name)?.versions ?? []
    const added = plugin.versions.find(({ version }) => known.every(other => other.version !== version))
    if (values.json) return json(terminal.out, plugin)
    const done = added
      ? `${styled(terminal.out, 'green', 'added')} ${plugin.name} ${added.version}`
      : 'unchanged'
    terminal.out.write(`${done}; ${plugin.active} is active\n`)
  },
}
