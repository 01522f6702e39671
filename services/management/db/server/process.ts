import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Log } from '@eyrie/kit'
import type { Cluster } from './cluster.ts'
import { endLeftovers } from './leftovers.ts'
import type { Program } from './program.ts'

/** A server that takes connections. */
export interface ServerProcess {
  readonly pid: number | undefined
  /** Fulfilled with the exit code or signal. */
  readonly ended: Promise<string>
  /** Cuts connections and ends it. What takes longer than the grace is recovered at the next start. */
  stop(): Promise<void>
}

const graceMs = 1_000

/** Rejects with the last that the server has said if it ends before it takes connections, as it does with `ending`. */
export async function startProcess(
  cluster: Cluster,
  program: Program,
  settings: Readonly<Record<string, string>>,
  log: Log,
  ending?: AbortSignal,
): Promise<ServerProcess> {
  await endLeftovers(cluster.data)
  const given = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = cluster.runner.start(program.postgres, ['-D', cluster.data, ...given], 'INT')
  const ended = once(child, 'exit').then(([code, signal]) => String(signal ?? `code ${code}`))
  async function stop(): Promise<void> {
    child.kill('SIGINT')
    const impatient = setTimeout(() => child.kill('SIGQUIT'), graceMs)
    await ended
    clearTimeout(impatient)
  }
  let last = 'nothing'
  const ready = new Promise<'ready'>(resolve => {
    createInterface({ input: child.stderr }).on('line', line => {
      last = line
      if (line.endsWith('database system is ready to accept connections')) resolve('ready')
      write(log, line)
    })
  })
  ending?.addEventListener('abort', stop)
  const outcome = await Promise.race([ready, ended])
  ending?.removeEventListener('abort', stop)
  if (outcome !== 'ready')
    throw new Error(`the database server has ended with ${outcome}; its last words: ${last}`)

  return { pid: child.pid, ended, stop }
}

/** `LEVEL:  words`: everyday life is for those who look closely. */
function write(log: Log, line: string): void {
  const [, level = 'LOG', words = line] = /^([A-Z]+):\s+(.*)$/.exec(line) ?? []
  if (level === 'PANIC' || level === 'FATAL') log.error(`database server: ${words}`)
  else if (level === 'WARNING') log.warn(`database server: ${words}`)
  else log.debug(`database server: ${words}`)
}
