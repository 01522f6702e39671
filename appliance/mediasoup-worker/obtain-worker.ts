import { once } from 'node:events'
import { resolve } from 'node:path'
import type { ServiceLog } from '../process/service-log.ts'
import { startProcess } from '../process/supervised-process.ts'

const program = resolve(import.meta.dirname, 'obtain-process.ts')

/**
 * Downloads or builds the mediasoup worker in the background, by default into .toolchain. Until it exists, live views use
 * fragmented MP4.
 * Does nothing if `MEDIASOUP_WORKER_BIN` names a worker. Resolves when it is done, or has been stopped by the signal.
 */
export async function obtainWorker(
  environment: NodeJS.ProcessEnv,
  log: ServiceLog,
  signal: AbortSignal,
  folder?: string,
): Promise<void> {
  if (environment.MEDIASOUP_WORKER_BIN) return
  const args = folder ? [program, folder] : [program]
  const child = startProcess({ name: 'worker', args, environment }, log)
  signal.addEventListener('abort', () => child.kill(), { once: true })
  // A process that cannot be started emits an error instead of exit. startProcess has logged it.
  await once(child, 'exit').catch(() => {})
}
