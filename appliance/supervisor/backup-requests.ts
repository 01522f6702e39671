import { chmodSync, chownSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, readSettings } from '@eyrie/kit'
import type { Account } from '@eyrie/kit/accounts/account'
import { type BackupAnswer, backupRelease, backupRequest } from '@eyrie/kit/backup-messages'
import { runBackupProgram, toUnfinishedFolder } from '@eyrie/kit/backup-program'
import type { ServiceSeparation } from '../accounts/service-separation.ts'

/** Writes backups for management, which may not read the files of the other services. */
export interface BackupRequests {
  /** Handles a message of management; ignores other messages. */
  handle(message: unknown): void
  stop(): void
}

export interface BackupRequestOptions {
  environment: Environment
  /** Environment variables of the program that writes a backup. */
  variables: NodeJS.ProcessEnv
  separation: ServiceSeparation
  /** Sends a message to management. */
  answer(message: BackupAnswer): void
}

/**
 * Creates the handler of requests for backups. At most one backup exists at a time: a request
 * deletes the previous one.
 */
export function createBackupRequests(options: BackupRequestOptions): BackupRequests {
  const { environment, variables, separation, answer } = options
  const { data, databaseUrl } = environment
  const folder = toUnfinishedFolder(data)
  /** The backup that is being written, or was written last. */
  let current: { id: string; writing: AbortController } | undefined

  function deleteCurrent(): void {
    current?.writing.abort()
    current = undefined
    rmSync(folder, { recursive: true, force: true })
  }

  /** Writes a backup in place of the previous one, and returns its path. */
  async function write(id: string, passphrase: string): Promise<string> {
    deleteCurrent()
    assertPermitted(separation, data)
    const writing = new AbortController()
    current = { id, writing }
    // The folder belongs to this process: services of other users cannot put a link into it.
    mkdirSync(folder, { mode: 0o700 })
    const path = join(folder, `${id}.backup`)
    const { signal } = writing
    await runBackupProgram({ data, path, passphrase, databaseUrl, environment: variables, signal })
    if (separation.kind === 'users') giveTo(separation.accounts.management, folder, path)
    return path
  }

  async function writeAndAnswer(id: string, passphrase: string): Promise<void> {
    try {
      const path = await write(id, passphrase)
      answer({ backup_answer: { id, path } })
    } catch (error) {
      answer({ backup_answer: { id, problem: (error as Error).message } })
    }
  }

  return {
    handle(message) {
      const request = backupRequest.safeParse(message).data?.backup_request
      if (request) void writeAndAnswer(request.id, request.passphrase)
      const releasedId = backupRelease.safeParse(message).data?.backup_release
      if (releasedId !== undefined && releasedId === current?.id) deleteCurrent()
    },
    stop: deleteCurrent,
  }
}

/** Gives a file to a user, who can then enter its folder but not change it. */
function giveTo({ uid, gid }: Account, folder: string, file: string): void {
  chownSync(file, uid, gid)
  chownSync(folder, process.getuid?.() ?? 0, gid)
  chmodSync(folder, 0o710)
}

/**
 * Throws an `Error` unless management may request backups. Management knows their passphrase, and
 * could read the secrets of all services in them. If the services are separated, root must
 * therefore permit it, in a settings file that no service can write.
 */
function assertPermitted({ kind }: ServiceSeparation, data: string): void {
  if (kind === 'users' && !readSettings(data).management.scheduled_backups) {
    throw new Error(
      `management may not request backups of all services: set management.scheduled_backups to true in ${join(data, 'eyrie.json')}, or let root run ./eyrie backup by a timer`,
    )
  }
}
