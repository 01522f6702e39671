import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import type { Binaries } from './binaries.ts'
import type { DataDirectory } from './data-directory.ts'
import { FULL_DISK_REASON } from './full-disk.ts'
import { READY_MESSAGE, type ServerLog } from './server-log.ts'

/** A Postgres process that accepts connections. */
export interface ServerProcess {
  readonly pid: number | undefined
  /** Resolves to the exit code or signal. */
  readonly exited: Promise<string>
  /**
   * Closes all connections and stops the server. A server that exceeds the grace period is killed;
   * its next start then recovers from the write-ahead log.
   */
  stop(): Promise<void>
}

/**
 * Time between SIGINT, which starts a fast shutdown of Postgres, and SIGQUIT for an immediate one
 * (Postgres manual, section 18.5).
 */
const STOP_GRACE_MS = 1_000
/** Leftover processes that have not exited after this time are killed. */
const LEFTOVER_GRACE_MS = 5_000
const LEFTOVER_POLL_MS = 20

/**
 * Starts a server and resolves when it accepts connections. Rejects with the last line of the
 * server's log if the server exits first, and when `signal` aborts the start.
 */
export async function startServerProcess(
  directory: DataDirectory,
  binaries: Binaries,
  settings: Readonly<Record<string, string>>,
  log: ServerLog,
  signal?: AbortSignal,
): Promise<ServerProcess> {
  await cleanUpAfterCrash(directory.path)

  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = directory.runner.start(binaries.postgres, ['-D', directory.path, ...options])
  const exited = once(child, 'exit').then(([code, exitSignal]) =>
    String(exitSignal ?? `code ${code}`),
  )
  const outputEnded = once(child, 'close')

  async function stop(): Promise<void> {
    child.kill('SIGINT')
    const graceTimer = setTimeout(() => child.kill('SIGQUIT'), STOP_GRACE_MS)
    await exited
    clearTimeout(graceTimer)
  }

  let lastLine = 'none'
  const { promise: ready, resolve: resolveReady } = Promise.withResolvers<'ready'>()
  createInterface({ input: child.stderr }).on('line', line => {
    lastLine = line
    if (line.endsWith(READY_MESSAGE)) resolveReady('ready')
    log.addLine(line)
  })

  signal?.addEventListener('abort', stop)
  const outcome = await Promise.race([ready, exited])
  signal?.removeEventListener('abort', stop)
  if (outcome !== 'ready') {
    // The last lines of the log may arrive after the exit.
    await outputEnded
    if (log.isDiskFull()) throw new Error(FULL_DISK_REASON)
    throw new Error(`the database server exited with ${outcome}; last line of its log: ${lastLine}`)
  }

  return { pid: child.pid, exited, stop }
}

/** Returns Postgres settings for a small appliance that also runs the other services. */
export function serverSettings({
  path,
  hbaFile,
  identFile,
  socketFolder,
  isShared,
}: DataDirectory): Readonly<Record<string, string>> {
  return {
    hba_file: hbaFile,
    ident_file: identFile,
    // No TCP. The socket is in the data directory, which other users cannot enter, or in a folder
    // that only the services enter.
    listen_addresses: '',
    // Relative, because Linux limits the length of the path.
    unix_socket_directories: relative(path, socketFolder) || '.',
    unix_socket_permissions: isShared ? '0777' : '0700',
    max_connections: '40',
    shared_buffers: '96MB',
    work_mem: '8MB',
    maintenance_work_mem: '64MB',
    effective_cache_size: '512MB',
    // Without replication the write-ahead log is smaller, and its size is bounded.
    wal_level: 'minimal',
    max_wal_senders: '0',
    min_wal_size: '32MB',
    max_wal_size: '256MB',
    // Queries are too short to benefit from JIT compilation and parallel workers.
    jit: 'off',
    max_parallel_workers_per_gather: '0',
    io_method: 'sync',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Statements and rows may contain secrets and must not be logged.
    log_line_prefix: '',
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    log_autovacuum_min_duration: '-1',
    update_process_title: 'off',
  }
}

/**
 * Stops server processes that a crash left in the data directory, and deletes a
 * stale `postmaster.pid`.
 */
async function cleanUpAfterCrash(directory: string): Promise<void> {
  const pidFile = join(directory, 'postmaster.pid')
  // The first line of the file is the id of the main process, which stops the others.
  const postmaster = Number(readIfExists(pidFile).split('\n')[0])
  let leftovers = findServerProcesses(directory)
  if (leftovers.includes(postmaster)) sendSignal([postmaster], 'SIGINT')

  const deadlineMs = Date.now() + LEFTOVER_GRACE_MS
  while (leftovers.length > 0) {
    if (Date.now() >= deadlineMs) sendSignal(leftovers, 'SIGKILL')
    await wait(LEFTOVER_POLL_MS)
    leftovers = findServerProcesses(directory)
  }
  // The pid may belong to another process by now, and Postgres would mistake that process
  // for a running server.
  rmSync(pidFile, { force: true })
}

/** Returns the processes whose working directory is this one: all processes of its server. */
function findServerProcesses(directory: string): number[] {
  const path = realpathSync(directory)
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => readWorkingDirectory(pid) === path)
}

function readWorkingDirectory(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

function readIfExists(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function sendSignal(pids: readonly number[], signal: 'SIGINT' | 'SIGKILL'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // The process exited in the meantime.
    }
  }
}
