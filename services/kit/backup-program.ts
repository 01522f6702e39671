import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { join, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { WITHOUT_INSPECTOR } from './node-options.ts'
import type { SecretVariables } from './secret-variables.ts'

const PROGRAM = resolve(import.meta.dirname, '../management/upkeep/main.ts')
/** The descriptor from which the program reads secrets, the first one after stderr. */
const SECRETS_FD = 3

export interface BackupProgramOptions {
  /** The data folder. */
  data: string
  /** Path of the backup to write. */
  path: string
  passphrase: string
  environment: NodeJS.ProcessEnv
  /** Undefined: the database in the data folder. */
  databaseUrl: string | undefined
  /** Kills the program. */
  signal: AbortSignal
}

/**
 * Returns the folder to which a backup is written before it is stored elsewhere. The folder is
 * deleted with all its files: its name is none that people give to a folder for their own backups.
 */
export const toUnfinishedFolder = (data: string): string => join(data, 'unfinished-backup')

/**
 * Runs the program that writes a backup, at a low priority, because video is analysed meanwhile.
 * Throws an `Error` with the reason if it fails, and the reason of the signal if it is aborted.
 */
export async function runBackupProgram(options: BackupProgramOptions): Promise<void> {
  const { passphrase, databaseUrl, signal } = options
  signal.throwIfAborted()
  const child = startProgram(options)
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill)
  try {
    const ended = waitForEnd(child)
    const secrets: SecretVariables = databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }
    writeToPipe(child.stdin, passphrase)
    writeToPipe(child.stdio[SECRETS_FD] as Writable | null, JSON.stringify(secrets))

    const { code, errors } = await ended
    signal.throwIfAborted()
    if (code !== 0) throw new Error(errors.trim() || `the backup program ended with code ${code}`)
  } finally {
    signal.removeEventListener('abort', kill)
  }
}

function startProgram({ data, path, environment }: BackupProgramOptions): ChildProcess {
  const child = spawn(process.execPath, [WITHOUT_INSPECTOR, PROGRAM, 'backup', path], {
    env: { ...environment, EYRIE_DATA: data, EYRIE_SECRETS_FD: String(SECRETS_FD) },
    // The passphrase on stdin, no output, errors, and the secrets on `SECRETS_FD`.
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  })
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
  return child
}

/** Resolves when the program has ended. Rejects if it could not be started. */
async function waitForEnd(child: ChildProcess): Promise<{ code: number | null; errors: string }> {
  const [errors, [code]] = await Promise.all([
    child.stderr ? text(child.stderr) : '',
    once(child, 'close'),
  ])
  return { code, errors }
}

/** Writes to a pipe of the program. The pipe is null if the program could not be started. */
function writeToPipe(pipe: Writable | null, content: string): void {
  // A program that ends early closes the pipe. Its exit code is reported instead of this error.
  pipe?.on('error', () => {})
  pipe?.end(content)
}
