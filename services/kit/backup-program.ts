import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { WITHOUT_INSPECTOR } from './node-options.ts'
import type { SecretVariables } from './secret-variables.ts'

// Backups that management requests. A program writes them, and the supervisor starts it, because
// only the supervisor may read the files of all services. Without a supervisor, management
// starts the program itself.

const PROGRAM = resolve(import.meta.dirname, '../management/upkeep/main.ts')
/**
 * The descriptor from which the program reads secrets: the first one after stdin, stdout and
 * stderr.
 */
const SECRETS_FD = 3

/** A message by which management asks the supervisor for a backup. */
export const backupRequest = z.strictObject({
  backup_request: z.strictObject({ id: z.uuid(), passphrase: z.string().min(1) }),
})

/**
 * A message by which management asks the supervisor to stop writing a backup, or to
 * delete a finished one.
 */
export const backupRelease = z.strictObject({ backup_release: z.uuid() })

/** The answer of the supervisor: the path of the finished backup, or why it failed. */
export const backupAnswer = z.strictObject({
  backup_answer: z.strictObject({
    id: z.uuid(),
    path: z.string().optional(),
    problem: z.string().optional(),
  }),
})

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
 * Runs the program that writes a backup, at a low priority, because video is analysed meanwhile.
 * Throws an `Error` with the reason if it fails, and the reason of the signal if it is aborted.
 */
export async function runBackupProgram(options: BackupProgramOptions): Promise<void> {
  const { data, path, passphrase, environment, databaseUrl, signal } = options
  signal.throwIfAborted()
  const secrets: SecretVariables = databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }
  const child = spawn(process.execPath, [WITHOUT_INSPECTOR, PROGRAM, 'backup', path], {
    env: { ...environment, EYRIE_DATA: data, EYRIE_SECRETS_FD: String(SECRETS_FD) },
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  })
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill)
  try {
    const ended = once(child, 'close')
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
    writeToPipe(child.stdin, passphrase)
    writeToPipe(child.stdio[SECRETS_FD] as Writable | null, JSON.stringify(secrets))
    const [errors, [code]] = await Promise.all([child.stderr ? text(child.stderr) : '', ended])
    signal.throwIfAborted()
    if (code !== 0) throw new Error(errors.trim() || `the backup program ended with code ${code}`)
  } finally {
    signal.removeEventListener('abort', kill)
  }
}

/** Writes to a pipe of a program. The pipe is null if the program could not be started. */
function writeToPipe(pipe: Writable | null, content: string): void {
  // A program that ends early closes the pipe. The caller reports how the program has ended
  // instead.
  pipe?.on('error', () => {})
  pipe?.end(content)
}
