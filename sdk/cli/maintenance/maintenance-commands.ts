import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { ENCRYPTED_BACKUP_MAGIC } from '@eyrie/contract/backup'
import type { Job } from '@eyrie/contract/management/job'
import { type Command, JSON_OPTION, parseArguments } from '../command/command.ts'
import { createLocalFolder } from '../command/local-files.ts'
import { PASSPHRASE_OPTION, readNewPassphrase, readPassphrase } from '../command/passphrase.ts'
import { styled, type Terminal, writeJson, writeSuccess } from '../command/terminal.ts'
import { findIsolationGaps, type IsolationGap } from './isolation-gaps.ts'

const MANAGEMENT = resolve(import.meta.dirname, '../../../services/management')
const MAINTENANCE_PROGRAM = join(MANAGEMENT, 'upkeep/main.ts')
const STORE_PROGRAM = join(MANAGEMENT, 'backups/main.ts')
/** The data folder contains secrets. */
const OWNER_ONLY_MODE = 0o700

/**
 * Commands for the data of the appliance. Only the management service has access to the database,
 * so that each command runs one of its programs.
 */

/** `eyrie backup`: writes an encrypted backup to a file. */
export const backupCommand: Command = {
  usage: '<file> [--passphrase-file <file>] [--json]',
  about:
    'Writes everything that cannot be regenerated into one encrypted file: database, configuration, models, plugins, images,\n' +
    'secrets. Eyrie may be running. Asks for a passphrase, or reads it from a file (- for standard input).',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, { ...PASSPHRASE_OPTION, ...JSON_OPTION }, [
      'file',
    ])
    const path = resolve(positionals[0])
    const passphrase = await readNewPassphrase(terminal, values['passphrase-file'])
    const contents = await runMaintenance<BackupContents>(terminal, {
      args: ['backup', path],
      input: passphrase,
    })
    const { size } = await stat(path)

    if (values.json) return writeJson(terminal.out, { backup: path, bytes: size, ...contents })
    writeSuccess(terminal.out, 'wrote', `${path}: ${summarize(contents)}`)
  },
}

/** `eyrie backup store`: writes a backup to the configured storage, as the job `backup` does. */
export const storeBackupCommand: Command = {
  usage: '[--json]',
  about:
    'Runs the job backup in this process: writes a backup to the folder or the storage that is configured for scheduled backups.\n' +
    'For timers of machines where management may not read the files of the other services, such as with Docker Compose.',

  async run(args, terminal) {
    const { values } = parseArguments(args, JSON_OPTION)
    const job = await runMaintenance<Job>(terminal, { program: STORE_PROGRAM })

    if (values.json) return writeJson(terminal.out, job)
    writeSuccess(terminal.out, 'succeeded', `backup: ${job.job_message}`)
  },
}

/** `eyrie restore`: replaces the data of the appliance with a backup. */
export const restoreCommand: Command = {
  usage: '<file> [--passphrase-file <file>] [--force] [--json]',
  about:
    'Restores a backup of this or an earlier release. Eyrie must be stopped, and the installation must be empty.\n' +
    '--force replaces existing data. Asks for the passphrase, or reads it from a file (- for standard input).',

  async run(args, terminal) {
    const options = { force: { type: 'boolean' }, ...PASSPHRASE_OPTION, ...JSON_OPTION } as const
    const { values, positionals } = parseArguments(args, options, ['file'])
    const path = resolve(positionals[0])
    const restoreArgs = values.force ? ['restore', path, '--force'] : ['restore', path]
    const passphrase = await readBackupPassphrase(path, terminal, values['passphrase-file'])
    await createLocalFolder(terminal.data, OWNER_ONLY_MODE)
    const contents = await runMaintenance<BackupContents>(terminal, {
      args: restoreArgs,
      input: passphrase,
    })

    if (values.json) return writeJson(terminal.out, { restored: path, ...contents })
    const origin = `made ${contents.made_at} by release ${contents.version}`
    writeSuccess(terminal.out, 'restored', `${summarize(contents)}, ${origin}`)
  },
}

/**
 * Reads the passphrase of a backup if the backup is encrypted, or if a file with the
 * passphrase was named. Otherwise returns an empty text, with a warning: only backups of
 * earlier releases are not encrypted.
 */
async function readBackupPassphrase(
  path: string,
  terminal: Terminal,
  passphraseFile: string | undefined,
): Promise<string> {
  const start = await readStart(path, ENCRYPTED_BACKUP_MAGIC.length)
  if (start === ENCRYPTED_BACKUP_MAGIC || passphraseFile !== undefined) {
    return readPassphrase(terminal, passphraseFile)
  }

  // If the file cannot be read, the restore itself reports that.
  if (start === undefined) return ''
  const { err } = terminal
  const warning = `${path} is not encrypted, so nothing proves who wrote it: restore it only if you trust its origin`
  err.write(`${styled(err, 'yellow', 'warning:')} ${warning}\n`)
  return ''
}

/** Returns the first bytes of a file as Latin-1, or undefined if the file cannot be read. */
async function readStart(path: string, length: number): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined)
  try {
    const read = await file?.read(Buffer.alloc(length), 0, length, 0)
    return read?.buffer.toString('latin1', 0, read.bytesRead)
  } catch {
    return undefined
  } finally {
    await file?.close()
  }
}

/** `eyrie check`: looks for inconsistencies and missing boundaries. */
export const checkCommand: Command = {
  usage: '[--json]',
  about:
    'Checks the database and its files for inconsistencies, and running services for missing boundaries, and prints how to\n' +
    'fix them. Changes nothing. Eyrie may be running.',

  async run(args, terminal) {
    const { values } = parseArguments(args, JSON_OPTION)
    const findings = await runMaintenance<Finding[]>(terminal, { args: ['check'] })
    // Gaps do not count as problems, because the services work in spite of them.
    const gaps = await findIsolationGaps(terminal)

    if (values.json) writeJson(terminal.out, [...findings, ...gaps])
    else printFindings(findings, gaps, terminal)

    // Scripts recognize problems by the exit code.
    if (findings.length > 0) throw new Error(`${findings.length} problems found`)
  },
}

function printFindings(findings: Finding[], gaps: IsolationGap[], { out }: Terminal): void {
  for (const { says, what, remedy } of findings) {
    out.write(`${styled(out, 'red', 'problem:')} ${says}\n  ${what}\n  ${remedy}\n`)
  }
  for (const { service, isolation, missing } of gaps) {
    out.write(`${styled(out, 'yellow', 'degraded:')} the isolation of ${service} is ${isolation}\n`)
    for (const remedy of missing) out.write(`  ${remedy}\n`)
  }
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

interface MaintenanceRun {
  args?: string[]
  /** Text for the standard input of the program. */
  input?: string
  program?: string
}

/**
 * Runs a program of the management service and returns its JSON output. Throws an `Error` with its
 * error output if it fails.
 */
async function runMaintenance<Result>(
  { data, environment = {} }: Terminal,
  { args = [], input = '', program = MAINTENANCE_PROGRAM }: MaintenanceRun,
): Promise<Result> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...environment, EYRIE_DATA: data },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // The program may end before it has read its input; its error output then says why.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [output, errors, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  if (exitCode !== 0) throw new Error(errors.trim() || `the program ended with code ${exitCode}`)
  return JSON.parse(output) as Result
}
