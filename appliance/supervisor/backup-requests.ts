import { chmodSync, chownSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, readSettings } from '@eyrie/kit'
import { type backupAnswer, backupRelease, backupRequest, runBackupProgram } from '@eyrie/kit/backup-program'
import type { z } from 'zod'
import type { ServiceSeparation } from '../accounts/service-separation.ts'

/** Writes the backups that management requests, because management may not read the files of the other services. */
export interface BackupRequests {
  /** Handles a message of management; ignores other messages. */
  handle(message: unknown): void
  stop(): void
}

export interface BackupRequestOptions {
  environment: Environment
  /** Environment of the program. */
  variables: NodeJS.ProcessEnv
  separation: ServiceSeparation
  /** Sends a message to management. */
  answer(message: z.input<typeof backupAnswer>): void
}

/** At most one backup exists at a time: a request replaces the previous one. */
export function createBackupRequests(options: BackupRequestOptions): BackupRequests {
  const { environment, variables, separation, answer } = options
  const { data, databaseUrl } = environment
  const folder = join(data, 'backups')
  let current: { id: string; running: AbortController } | undefined

  function release(): void {
    current?.running.abort()
    current = undefined
    rmSync(folder, { recursive: true, force: true })
  }

  async function write(id: string, passphrase: string): Promise<void> {
    release()
    assertPermitted(separation, data)
    const running = new AbortController()
    current = { id, running }
    // Belongs to this process, so that no service can put a link in the way of the file.
    mkdirSync(folder, { mode: 0o700 })
    const path = join(folder, `${id}.backup`)
    await runBackupProgram({
      ...{ data, path, passphrase, databaseUrl },
      environment: variables,
      signal: running.signal,
    })
    if (separation.kind === 'users') {
      const { uid, gid } = separation.accounts.management
      chownSync(path, uid, gid)
      chownSync(folder, process.getuid?.() ?? 0, gid)
      chmodSync(folder, 0o710)
    }
    answer({ backup_answer: { id, path } })
  }

  return {
    handle(message) {
      const request = backupRequest.safeParse(message).data?.backup_request
      if (request)
        write(request.id, request.passphrase).catch(error => {
          answer({ backup_answer: { id: request.id, problem: (error as Error).message } })
        })
      const released = backupRelease.safeParse(message).data?.backup_release
      if (released !== undefined && released === current?.id) release()
    },
    stop: release,
  }
}

/**
 * Management knows the passphrase of the backup, and therefore the secrets of all services in it. Where the services are separated,
 * only root may permit that, in a file that no service can write.
 */
function assertPermitted({ kind }: ServiceSeparation, data: string): void {
  if (kind === 'users' && !readSettings(data).management.scheduled_backups)
    throw new Error(
      `management may not request backups of all services: set management.scheduled_backups to true in ${join(data, 'eyrie.json')}, or let root run ./eyrie backup by a timer`,
    )
}
