import { randomUUID } from 'node:crypto'
import { mkdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { formatBytes } from '@eyrie/contract/format-bytes'
import { unlessAborted } from '@eyrie/kit'
import { type BackupRelease, type BackupRequest, backupAnswer } from '@eyrie/kit/backup-messages'
import { runBackupProgram, toUnfinishedFolder } from '@eyrie/kit/backup-program'

const NO_SUPERVISOR_MESSAGE =
  'in a container, management may not read the files of the other services: ' +
  'let a timer of the host run docker compose run --rm -T cli backup store'

/** A backup on the disk of this machine. */
export interface WrittenArchive {
  path: string
  /** Deletes the backup. */
  discard(): Promise<void>
}

/** Writes a backup of this installation to its own disk. */
export type WriteArchive = (passphrase: string, signal: AbortSignal) => Promise<WrittenArchive>

export interface ArchiveWriterOptions {
  /** Folder of the appliance's data. */
  data: string
  databaseUrl: string | undefined
  /**
   * Whether this process may not read the files of the other services, because each service runs as
   * a user of its own: under a supervisor, or in its own container.
   */
  isSupervised: boolean
}

/**
 * Returns a writer. If this process may not read all files, the supervisor writes the backup.
 */
export const createArchiveWriter = (options: ArchiveWriterOptions): WriteArchive =>
  options.isSupervised ? writeWithSupervisor : createOwnWriter(options)

/** Asks the supervisor to write a backup. Request and answer have the same id. */
async function writeWithSupervisor(
  passphrase: string,
  signal: AbortSignal,
): Promise<WrittenArchive> {
  signal.throwIfAborted()
  // In a container, this process has no supervisor that could write the backup.
  if (!process.send) throw new Error(NO_SUPERVISOR_MESSAGE)

  const id = randomUUID()
  const written = Promise.withResolvers<string>()
  const receive = (message: unknown) => {
    const answer = backupAnswer.safeParse(message).data?.backup_answer
    if (answer?.id !== id) return
    if (answer.path === undefined) written.reject(new Error(answer.problem))
    else written.resolve(answer.path)
  }
  /** Stops the supervisor if it is still writing, and deletes the file. */
  const discard = async () => {
    process.send?.({ backup_release: id } satisfies BackupRelease)
  }
  const abort = () => void discard()

  process.on('message', receive)
  signal.addEventListener('abort', abort)
  try {
    process.send({ backup_request: { id, passphrase } } satisfies BackupRequest)
    return { path: await unlessAborted(written.promise, signal), discard }
  } finally {
    process.off('message', receive)
    signal.removeEventListener('abort', abort)
  }
}

/** Returns a writer that runs the backup program. This process must be able to read all files. */
function createOwnWriter({ data, databaseUrl }: ArchiveWriterOptions): WriteArchive {
  const folder = toUnfinishedFolder(data)
  return async (passphrase, signal) => {
    // A crash may have left an unfinished backup.
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { mode: 0o700 })
    const path = join(folder, `${randomUUID()}.backup`)
    const discard = () => rm(folder, { recursive: true, force: true })
    try {
      await runBackupProgram({
        data,
        path,
        passphrase,
        // `runBackupProgram` adds the variables that the program needs.
        environment: {},
        databaseUrl,
        signal,
      })
      return { path, discard }
    } catch (error) {
      await discard()
      throw error
    }
  }
}

/**
 * Throws an `Error` if a backup of this size does not fit on the disk of the data folder, to which
 * archives are written at first.
 */
export async function assertOwnSpace(data: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(data)
  const freeBytes = bavail * bsize
  if (freeBytes < bytes) {
    throw new Error(
      `the backup needs about ${formatBytes(bytes)}, and the disk of ${data} has only ` +
        `${formatBytes(freeBytes)} left: free some space`,
    )
  }
}
