import { connect, engineOptions } from '../engine/connect.ts'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { json, table } from '../terminal.ts'

export const listPluginsCommand: Command = {
  usage: '[--json] [--url URL] [--token TOKEN]',
  about: 'Lists plugins with all their versions; pipelines run the active one.',

  async run(args, terminal) {
    const { values } = parse(args, { json: { type: 'boolean' }, ...engineOptions }, [])
    const plugins = await connect(values, terminal).plugin.list()
    if (values.json) return json(terminal.out, plugins)
    const rows = plugins.flatMap(({ name, active, versions }) =>
      versions.map(({ version, origin, license, elements }) => [
        name,
        version,
        version === active ? 'active' : '',
        origin,
        license,
        elements.join(', '),
      ]),
    )
    terminal.out.write(table([['PLUGIN', 'VERSION', 'STATE', 'ORIGIN', 'LICENSE', 'ELEMENTS'], ...rows]))
  },
}
