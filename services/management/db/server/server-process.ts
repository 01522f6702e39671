import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '@eyrie/kit'
import type { Binaries } from './binaries.ts'
import type { DataDirectory } from './data-directory.ts'

/** A running server that accepts connections. */
export interface ServerProcess {
  readonly pid: number | undefined
  /** Resolves with the exit code or signal. */
  readonly exited: Promise<string>
  /** Closes connections and stops the server. Whatever exceeds the grace period is recovered by the next start. */
  stop(): Promise<void>
}

const STOP_GRACE_MS = 1_000

/** Rejects with the last line of the server's log if it exits before it accepts connections, or when `signal` aborts. */
export async function startServerProcess(
  directory: DataDirectory,
  binaries: Binaries,
  settings: Readonly<Record<string, string>>,
  log: Log,
  signal?: AbortSignal,
): Promise<ServerProcess> {
  await cleanUpAfterCrash(directory.path)
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = directory.runner.start(binaries.postgres, ['-D', directory.path, ...options], 'INT')
  const exited = once(child, 'exit').then(([code, signal]) => String(signal ?? `code ${code}`))
  async function stop(): Promise<void> {
    child.kill('SIGINT')
    const graceTimer = setTimeout(() => child.kill('SIGQUIT'), STOP_GRACE_MS)
    await exited
    clearTimeout(graceTimer)
  }
  let lastLine = 'nothing'
  const ready = new Promise<'ready'>(resolve => {
    createInterface({ input: child.stderr }).on('line', line => {
      lastLine = line
      if (line.endsWith('database system is ready to accept connections')) resolve('ready')
      forwardLogLine(log, line)
    })
  })
  signal?.addEventListener('abort', stop)
  const outcome = await Promise.race([ready, exited])
  signal?.removeEventListener('abort', stop)
  if (outcome !== 'ready')
    throw new Error(`the database server exited with ${outcome}; its last log line: ${lastLine}`)

  return { pid: child.pid, exited, stop }
}

/** Forwards a line `LEVEL:  message` of the server's log. */
function forwardLogLine(log: Log, line: string): void {
  const [, level = 'LOG', message = line] = /^([A-Z]+):\s+(.*)$/.exec(line) ?? []
  if (level === 'PANIC' || level === 'FATAL') log.error({ line: message }, 'database server')
  else if (level === 'WARNING') log.warn({ line: message }, 'database server')
  else log.debug({ line: message }, 'database server')
}

/** Settings for a small appliance that runs other services as well. */
export function serverSettings({ hba, ident }: DataDirectory): Readonly<Record<string, string>> {
  return {
    hba_file: hba,
    ident_file: ident,
    // No TCP. The socket is in the data folder, which no other user may enter.
    listen_addresses: '',
    unix_socket_directories: '.',
    unix_socket_permissions: '0700',
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
    // Queries are too short for JIT compilation and parallel workers.
    jit: 'off',
    max_parallel_workers_per_gather: '0',
    io_method: 'sync',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Statements and rows may contain secrets, so the log must not contain them.
    log_line_prefix: '',
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    log_autovacuum_min_duration: '-1',
    update_process_title: 'off',
  }
}

const LEFTOVER_GRACE_MS = 5_000

/** Stops server processes that a crash left in the data directory, and removes a stale `postmaster.pid`. */
async function cleanUpAfterCrash(directory: string): Promise<void> {
  const pidFile = join(directory, 'postmaster.pid')
  if (findServerProcesses(directory).length > 0) {
    const postmaster = Number(readIfExists(pidFile).split('\n')[0])
    kill(
      findServerProcesses(directory).filter(pid => pid === postmaster),
      'SIGINT',
    )
    for (
      const deadline = Date.now() + LEFTOVER_GRACE_MS;
      findServerProcesses(directory).length > 0 && Date.now() < deadline;
    )
      await wait(20)
    while (findServerProcesses(directory).length > 0) {
      kill(findServerProcesses(directory), 'SIGKILL')
      await wait(20)
    }
  }
  // Postgres would mistake any process that has reused this pid for a running server.
  rmSync(pidFile, { force: true })
}

/** The working directory of every process of a server is its data directory. */
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

function kill(pids: readonly number[], signal: 'SIGINT' | 'SIGKILL'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // The process has exited meanwhile.
    }
  }
}
