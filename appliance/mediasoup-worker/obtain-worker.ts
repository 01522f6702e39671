import { once } from 'node:events'
import { resolve } from 'node:path'
import type { ServiceLog } from '../process/service-log.ts'
import { startProcess } from '../process/supervised-process.ts'

const PROGRAM = resolve(import.meta.dirname, 'obtain-process.ts')

/**
 * Downloads or builds the mediasoup worker, the program that sends live video over WebRTC.
 * Without it, live views use fragmented MP4. The work is done by a background process, by default
 * in the folder .toolchain.
 *
 * Does nothing if `MEDIASOUP_WORKER_BIN` is set. Resolves when the process has ended, by itself or
 * because the signal was aborted.
 */
export async function obtainWorker(
  environment: NodeJS.ProcessEnv,
  log: ServiceLog,
  signal: AbortSignal,
  folder?: string,
): Promise<void> {
  if (environment.MEDIASOUP_WORKER_BIN) return
  const args = folder ? [PROGRAM, folder] : [PROGRAM]
  const child = startProcess({ name: 'worker', args, environment }, log)

  signal.addEventListener('abort', () => child.kill(), { once: true })
  // A process that could not be started emits `error`, which startProcess has
  // logged, and no `exit`.
  await once(child, 'exit').catch(() => {})
}
