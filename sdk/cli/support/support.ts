import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { accessOf, engineOptions } from '../engine/connect.ts'
import type { Command } from '../eyrie.ts'
import { parse } from '../parse.ts'
import { json, styled } from '../terminal.ts'
import { write } from '../write.ts'
import { bundleParts, type Part } from './parts.ts'
import { scrub } from './scrub.ts'
import { knownSecrets } from './secrets.ts'
import { tar } from './tar.ts'

export const supportCommand: Command = {
  usage: '[--output bundle.tar.gz] [--json] [--url URL] [--token TOKEN]',
  about:
    'Writes a bundle for a bug report: configuration, versions, health, metrics, log, models and plugins, machine.\n' +
    'Passwords and tokens are left out; look through it all the same before you send it.',

  async run(args, terminal) {
    const { values } = parse(
      args,
      { output: { type: 'string' }, json: { type: 'boolean' }, ...engineOptions },
      [],
    )
    const access = accessOf(values, terminal)
    const secrets = [...(await knownSecrets(terminal)), access.token ?? '']
    const now = new Date()
    const name = `eyrie-support-${now.toISOString().replace(/\D/g, '').slice(0, 14)}`
    const { files, missing } = await collect(await bundleParts(access, terminal))
    const content = [...files, { name: 'missing.json', text: JSON.stringify(missing, null, 2) }].map(
      file => ({
        name: `${name}/${file.name}`,
        content: Buffer.from(scrub(file.text, secrets)),
      }),
    )
    const path = resolve(values.output ?? `${name}.tar.gz`)
    await write(path, await promisify(gzip)(tar(content, now)), 0o600)

    if (values.json) return json(terminal.out, { bundle: path, missing })
    for (const [part, reason] of Object.entries(missing))
      terminal.err.write(`${styled(terminal.err, 'yellow', 'without')} ${part}: ${reason}\n`)
    terminal.out.write(`${styled(terminal.out, 'green', 'wrote')} ${path}\n`)
  },
}

/** Reads what can be had, and why the rest cannot: an appliance that is ill is what a bundle is for. */
async function collect(parts: readonly Part[]) {
  const files: { name: string; text: string }[] = []
  const missing: Record<string, string> = {}
  await Promise.all(
    parts.map(async ({ name, read }) => {
      try {
        files.push({ name, text: await read() })
      } catch (error) {
        missing[name] = (error as Error).message
      }
    }),
  )
  return { files, missing }
}
