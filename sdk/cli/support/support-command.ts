import { resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { pack } from 'tar-stream'
import { type Command, parseArguments } from '../command/command.ts'
import { writeLocalFile } from '../command/local-files.ts'
import { styled, writeJson } from '../command/terminal.ts'
import { engineOptions, getEngineAccess } from '../engine/engine-access.ts'
import { type BundlePart, listBundleParts } from './bundle-parts.ts'
import { readKnownSecrets, redact } from './redaction.ts'

interface BundleFile {
  name: string
  text: string
}

export const supportCommand: Command = {
  usage: '[--output bundle.tar.gz] [--json] [--url URL] [--token TOKEN]',
  about:
    'Writes a support bundle: configuration, versions, health, metrics, logs, models, plugins and machine details.\n' +
    'Passwords and tokens are redacted. Review the bundle before you send it.',

  async run(args, terminal) {
    const options = { output: { type: 'string' }, json: { type: 'boolean' }, ...engineOptions } as const
    const { values } = parseArguments(args, options, [])
    const engine = getEngineAccess(values, terminal)
    const secrets = [...(await readKnownSecrets(terminal)), engine.token ?? '']
    const { files, missing } = await readParts(await listBundleParts(engine, terminal))
    files.push({ name: 'missing.json', text: JSON.stringify(missing, null, 2) })
    const redacted = files.map(({ name, text }) => ({ name, text: redact(text, secrets) }))

    const now = new Date()
    const bundle = `eyrie-support-${now.toISOString().replace(/\D/g, '').slice(0, 14)}`
    const path = resolve(values.output ?? `${bundle}.tar.gz`)
    await writeLocalFile(path, await archiveFiles(bundle, redacted, now), 0o600)

    if (values.json) return writeJson(terminal.out, { bundle: path, missing })
    for (const [part, reason] of Object.entries(missing))
      terminal.err.write(`${styled(terminal.err, 'yellow', 'without')} ${part}: ${reason}\n`)
    terminal.out.write(`${styled(terminal.out, 'green', 'wrote')} ${path}\n`)
  },
}

/** Reads all parts. Failures are collected, because a bundle is needed most when services are down. */
async function readParts(parts: readonly BundlePart[]) {
  const files: BundleFile[] = []
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

/** Packs the files into a gzipped tar archive under one folder, readable only by their owner. */
async function archiveFiles(folder: string, files: readonly BundleFile[], mtime: Date): Promise<Buffer> {
  const archive = pack()
  for (const { name, text } of files) archive.entry({ name: `${folder}/${name}`, mode: 0o600, mtime }, text)
  archive.finalize()
  return promisify(gzip)(await buffer(archive))
}
