import { resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { pack } from 'tar-stream'
import { type Command, JSON_OPTION, parseArguments } from '../command/command.ts'
import { writeLocalFile } from '../command/local-files.ts'
import { styled, type Terminal, writeJson, writeSuccess } from '../command/terminal.ts'
import { ENGINE_OPTIONS, getEngineAccess, type ServiceAccess } from '../engine/engine-access.ts'
import { listBundleParts } from './bundle-parts.ts'
import { readKnownSecrets, redact } from './redaction.ts'

const OWNER_ONLY_MODE = 0o600

/** `eyrie support`: writes a support bundle, the archive that a user attaches to a bug report. */
export const supportCommand: Command = {
  usage: '[--output bundle.tar.gz] [--json] [--url URL] [--token TOKEN]',
  about:
    'Writes a support bundle: configuration, versions, health, metrics, logs, models, plugins and machine details.\n' +
    'Passwords and tokens are redacted. Review the bundle before you send it.',

  async run(args, terminal) {
    const options = { output: { type: 'string' }, ...JSON_OPTION, ...ENGINE_OPTIONS } as const
    const { values } = parseArguments(args, options)
    const { files, missing } = await collectFiles(getEngineAccess(values, terminal), terminal)

    const now = new Date()
    const timestamp = formatTimestamp(now)
    const bundleName = `eyrie-support-${timestamp}`
    const path = resolve(values.output ?? `${bundleName}.tar.gz`)
    const archive = await archiveFiles(bundleName, files, now)
    await writeLocalFile(path, archive, OWNER_ONLY_MODE)

    const { out, err } = terminal
    if (values.json) return writeJson(out, { bundle: path, missing })
    for (const [name, reason] of Object.entries(missing)) {
      err.write(`${styled(err, 'yellow', 'without')} ${name}: ${reason}\n`)
    }
    writeSuccess(out, 'wrote', path)
  },
}

/** Formats a time as `YYYYMMDDhhmmss` in UTC. */
function formatTimestamp(time: Date): string {
  const digits = time.toISOString().replace(/\D/g, '')
  return digits.slice(0, 'YYYYMMDDhhmmss'.length)
}

interface BundleFile {
  name: string
  text: string
}

/** Files of the bundle, redacted, and the reasons why other files are missing, by name. */
interface BundleContents {
  files: BundleFile[]
  missing: Record<string, string>
}

/**
 * Reads all parts of the bundle. Failures are collected, because a bundle is needed most
 * when services are down.
 */
async function collectFiles(engine: ServiceAccess, terminal: Terminal): Promise<BundleContents> {
  const secrets = [...(await readKnownSecrets(terminal)), engine.token ?? '']
  const files: BundleFile[] = []
  const missing: Record<string, string> = {}

  const parts = await listBundleParts(engine, terminal)
  await Promise.all(
    parts.map(async ({ name, read }) => {
      try {
        files.push({ name, text: redact(await read(), secrets) })
      } catch (error) {
        missing[name] = (error as Error).message
      }
    }),
  )

  files.push({ name: 'missing.json', text: redact(JSON.stringify(missing, null, 2), secrets) })
  return { files, missing }
}

/** Packs files into a gzipped tar archive under one folder, readable only by their owner. */
async function archiveFiles(
  folder: string,
  files: readonly BundleFile[],
  mtime: Date,
): Promise<Buffer> {
  const tar = pack()
  for (const { name, text } of files) {
    tar.entry({ name: `${folder}/${name}`, mode: OWNER_ONLY_MODE, mtime }, text)
  }
  tar.finalize()
  return promisify(gzip)(await buffer(tar))
}
