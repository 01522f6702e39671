import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { WITHOUT_INSPECTOR } from './node-options.ts'
import type { SecretVariables } from './secret-variables.ts'

/**
 * Backups that management requests. A program writes them, and the supervisor starts it, because only the supervisor may read the
 * files of all services. Without a supervisor, management starts the program itself.
 */

const PROGRAM = resolve(import.meta.dirname, '../management/upkeep/main.ts')
/** After the standard descriptors. */
const SECRETS_FD = 3

/** A message from management to the supervisor: writes a backup. */
export const backupRequest = z.strictObject({
  backup_request: z.strictObject({ id: z.uuid(), passphrase: z.string().min(1) }),
})

/** A message from management to the supervisor: stops writing a backup, and deletes its file. */
export const backupRelease = z.strictObject({ backup_release: z.uuid() })

/** The answer of the supervisor: the path of the file, or why there is none. */
export const backupAnswer = z.strictObject({
  backup_answer: z.strictObject({
    id: z.uuid(),
    path: z.string().optional(),
    problem: z.string().optional(),
  }),
})

export interface BackupProgramOptions {
  data: string
  /** Path of the archive. */
  path: string
  passphrase: string
  environment: NodeJS.ProcessEnv
  databaseUrl: string | undefined
  signal: AbortSignal
}

/** Runs the program that writes a backup, at a low priority. Throws an `Error` with the reason if it fails. */
export async function runBackupProgram(options: BackupProgramOptions): Promise<void> {
  const { data, path, passphrase, environment, databaseUrl, signal } = options
  signal.throwIfAborted()
  const secrets: SecretVariables = databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }
  const child = spawn(process.execPath, [WITHOUT_INSPECTOR, PROGRAM, 'backup', path], {
    env: { ...environment, EYRIE_DATA: data, EYRIE_SECRETS_FD: String(SECRETS_FD) },
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  })
  const stop = () => child.kill('SIGKILL')
  signal.addEventListener('abort', stop)
  try {
    const ended = once(child, 'close')
    yieldProcessor(child)
    send(child.stdin, passphrase)
    send(child.stdio[SECRETS_FD], JSON.stringify(secrets))
    const [errors, [code]] = await Promise.all([child.stderr ? text(child.stderr) : '', ended])
    signal.throwIfAborted()
    if (code !== 0) throw new Error(errors.trim() || `the backup program ended with code ${code}`)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Writes to a pipe of a program. A program that ends early closes it. */
function send(pipe: unknown, content: string): void {
  const writable = pipe as Writable
  writable.on('error', () => {})
  writable.end(content)
}

/** Video is analysed meanwhile. */
function yieldProcessor({ pid }: ChildProcess): void {
  if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW)
}
