import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const patienceMs = 5_000

/** Ends what a crash may have left of a server on this data folder, and the note of a process that is no server's. */
export async function endLeftovers(data: string): Promise<void> {
  const note = join(data, 'postmaster.pid')
  if (processesIn(data).length > 0) {
    signal(
      [Number(readIfThere(note).split('\n')[0])].filter(pid => processesIn(data).includes(pid)),
      'SIGINT',
    )
    for (const end = Date.now() + patienceMs; processesIn(data).length > 0 && Date.now() < end; )
      await wait(20)
    while (processesIn(data).length > 0) {
      signal(processesIn(data), 'SIGKILL')
      await wait(20)
    }
  }
  // Postgres would take any process that has got this number since for the server.
  rmSync(note, { force: true })
}

/** A server's processes all work in its data folder. */
function processesIn(data: string): number[] {
  const folder = realpathSync(data)
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => workingFolder(pid) === folder)
}

function workingFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function signal(pids: readonly number[], name: 'SIGINT' | 'SIGKILL'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended by itself.
    }
  }
}
