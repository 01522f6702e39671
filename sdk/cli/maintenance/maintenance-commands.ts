import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Command, JSON_OPTION, parseArguments } from '../command/command.ts'
import { styled, type Terminal, writeJson, writeSuccess } from '../command/terminal.ts'

/** Commands for the data of the appliance: `eyrie backup`, `eyrie restore` and `eyrie check`. */

export const backupCommand: Command = {
  usage: '<file.tar.gz> [--json]',
  about:
    'Writes everything that cannot be regenerated into one file: database, configuration, models, plugins, images, secrets.\n' +
    'Eyrie may be running. Store the file safely: it contains secrets.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, JSON_OPTION, ['file'])
    const path = resolve(positionals[0])
    const contents = await runMaintenance<BackupContents>(['backup', path], terminal)
    const { size } = await stat(path)

    if (values.json) return writeJson(terminal.out, { backup: path, bytes: size, ...contents })
    writeSuccess(terminal.out, 'wrote', `${path}: ${summarize(contents)}`)
  },
}

export const restoreCommand: Command = {
  usage: '<file.tar.gz> [--force] [--json]',
  about:
    'Restores a backup of this or an earlier release. Eyrie must be stopped, and the installation must be empty.\n' +
    '--force replaces existing data.',

  async run(args, terminal) {
    const options = { force: { type: 'boolean' }, ...JSON_OPTION } as const
    const { values, positionals } = parseArguments(args, options, ['file'])
    const path = resolve(positionals[0])
    const restoreArgs = values.force ? ['restore', path, '--force'] : ['restore', path]
    const contents = await runMaintenance<BackupContents>(restoreArgs, terminal)

    if (values.json) return writeJson(terminal.out, { restored: path, ...contents })
    const origin = `made ${contents.made_at} by release ${contents.version}`
    writeSuccess(terminal.out, 'restored', `${summarize(contents)}, ${origin}`)
  },
}

export const checkCommand: Command = {
  usage: '[--json]',
  about:
    'Checks the database and its files for inconsistencies, and prints how to fix them.\n' +
    'Changes nothing. Eyrie may be running.',

  async run(args, terminal) {
    const { values } = parseArguments(args, JSON_OPTION)
    const findings = await runMaintenance<Finding[]>(['check'], terminal)

    if (values.json) writeJson(terminal.out, findings)
    else printFindings(findings, terminal)

    // Scripts recognise problems by the exit code.
    if (findings.length > 0) throw new Error(`${findings.length} problems found`)
  },
}

function printFindings(findings: Finding[], { out }: Terminal): void {
  for (const { says: rule, what: records, remedy } of findings)
    out.write(`${styled(out, 'red', 'problem:')} ${rule}\n  ${records}\n  ${remedy}\n`)
  if (findings.length === 0) out.write(`${styled(out, 'green', 'no problems found')}\n`)
}

/** The contents of a backup, as the management service reports them. */
interface BackupContents {
  made_at: string
  version: string
  tables: { name: string; rows: number }[]
  /** The files of the backup: SHA-256 by name. */
  entries: Record<string, string>
}

function summarize({ tables, entries }: BackupContents): string {
  const rowCount = tables.reduce((sum, table) => sum + table.rows, 0)
  const fileCount = Object.keys(entries).filter(name => name.startsWith('files/')).length
  return `${rowCount} records and ${fileCount} files`
}

/** An inconsistency in the database, as the management service reports it. */
interface Finding {
  /** The rule that is violated. */
  says: string
  /** The records that violate the rule. */
  what: string
  remedy: string
}

const MAINTENANCE_PROGRAM = resolve(import.meta.dirname, '../../../services/management/upkeep/main.ts')

/**
 * Runs the maintenance program of the management service and returns its JSON output. Only that service has access to the
 * database. Throws an `Error` with the program's error output if it fails.
 */
async function runMaintenance<Result>(args: string[], { data, environment = {} }: Terminal): Promise<Result> {
  const child = spawn(process.execPath, [MAINTENANCE_PROGRAM, ...args], {
    env: { ...environment, EYRIE_DATA: data },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  if (exitCode !== 0) throw new Error(errors.trim() || `the maintenance program ended with code ${exitCode}`)
  return JSON.parse(output) as Result
}
