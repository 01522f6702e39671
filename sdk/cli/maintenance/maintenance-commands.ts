import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Command, parseArguments } from '../command/command.ts'
import { styled, type Terminal, writeJson } from '../command/terminal.ts'

export const backupCommand: Command = {
  usage: '<file.tar.gz> [--json]',
  about:
    'Writes everything that cannot be regenerated into one file: database, configuration, models, plugins, images, secrets.\n' +
    'Eyrie may be running. Store the file safely: it contains secrets.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, { json: { type: 'boolean' } }, ['file'])
    const path = resolve(positionals[0]!)
    const contents = await runMaintenance<BackupContents>(['backup', path], terminal)
    const { size } = await stat(path)
    if (values.json) return writeJson(terminal.out, { backup: path, bytes: size, ...contents })
    terminal.out.write(`${styled(terminal.out, 'green', 'wrote')} ${path}: ${summarize(contents)}\n`)
  },
}

export const restoreCommand: Command = {
  usage: '<file.tar.gz> [--force] [--json]',
  about:
    'Restores a backup of this or an earlier release. Eyrie must be stopped, and the installation must be empty.\n' +
    '--force replaces existing data.',

  async run(args, terminal) {
    const options = { force: { type: 'boolean' }, json: { type: 'boolean' } } as const
    const { values, positionals } = parseArguments(args, options, ['file'])
    const path = resolve(positionals[0]!)
    const force = values.force ? ['--force'] : []
    const contents = await runMaintenance<BackupContents>(['restore', path, ...force], terminal)
    if (values.json) return writeJson(terminal.out, { restored: path, ...contents })
    const origin = `made ${contents.made_at} by release ${contents.version}`
    terminal.out.write(`${styled(terminal.out, 'green', 'restored')} ${summarize(contents)}, ${origin}\n`)
  },
}

export const checkCommand: Command = {
  usage: '[--json]',
  about:
    'Checks the database and its files for inconsistencies, and prints how to fix them.\n' +
    'Changes nothing. Eyrie may be running.',

  async run(args, terminal) {
    const { values } = parseArguments(args, { json: { type: 'boolean' } }, [])
    const findings = await runMaintenance<Finding[]>(['check'], terminal)
    const { out } = terminal
    if (values.json) writeJson(out, findings)
    else
      for (const { says, what, remedy } of findings)
        out.write(`${styled(out, 'red', 'problem:')} ${says}\n  ${what}\n  ${remedy}\n`)
    if (findings.length > 0) throw new Error(`${findings.length} problems found`)
    if (!values.json) out.write(`${styled(out, 'green', 'no problems found')}\n`)
  },
}

/** The contents of a backup, as management reports them. */
interface BackupContents {
  made_at: string
  version: string
  tables: { name: string; rows: number }[]
  entries: Record<string, string>
}

function summarize({ tables, entries }: BackupContents): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const files = Object.keys(entries).filter(name => name.startsWith('files/')).length
  return `${rows} records and ${files} files`
}

/** An inconsistency, as management reports it. */
interface Finding {
  /** The rule that is violated. */
  says: string
  /** The records that violate it. */
  what: string
  remedy: string
}

const maintenanceProgram = resolve(import.meta.dirname, '../../../services/management/upkeep/main.ts')

/**
 * Runs the maintenance program of management, the only code with access to its database, and returns its JSON output.
 * Throws an `Error` with its message on failure.
 */
async function runMaintenance<T>(args: string[], { data, environment = {} }: Terminal): Promise<T> {
  const child = spawn(process.execPath, [maintenanceProgram, ...args], {
    env: { ...environment, EYRIE_DATA: data },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  if (code !== 0) throw new Error(err.trim() || `the maintenance program ended with code ${code}`)
  return JSON.parse(out) as T
}
