import { connect, engineOptions } from '../engine/connect.ts'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { json, table } from '../terminal.ts'

export const discoverCamerasCommand: Command = {
  usage: '[--host HOST[:PORT]] [--json] [--url URL] [--token TOKEN]',
  about:
    "Finds ONVIF cameras on the engine's networks, or asks one host. Their addresses can be given to eyrie camera test.",

  async run(args, terminal) {
    const { values } = parse(
      args,
      { host: { type: 'string' }, json: { type: 'boolean' }, ...engineOptions },
      [],
    )
    const found = await connect(values, terminal).camera.discover({ host: values.host })
    if (values.json) return json(terminal.out, found)
    if (found.length === 0)
      return void terminal.out.write(
        'No camera has answered. Switch ONVIF on in the camera, or name its --host.\n',
      )
    const rows = found.map(({ name, hardware, location, profiles, url }) => [
      ...[name ?? '-', hardware ?? '-', location ?? '-', profiles.join(',') || '-', url],
    ])
    terminal.out.write(table([['NAME', 'HARDWARE', 'LOCATION', 'PROFILES', 'ADDRESS'], ...rows]))
  },
}
