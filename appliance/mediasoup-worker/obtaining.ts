import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Console } from '../supervisor/console.ts'
import { launch } from '../supervisor/process.ts'

const main = resolve(import.meta.dirname, 'obtain.ts')

/**
 * Provides mediasoup's worker beside the services, into `folder` if one is named. It may take ten minutes: live views come as
 * fragmented MP4 until then, and nobody waits for it. Resolves when it is done with, at the latest after `signal`.
 */
export async function obtainWorker(
  environment: NodeJS.ProcessEnv,
  log: Console,
  signal: AbortSignal,
  folder?: string,
): Promise<void> {
  const child = launch({ name: 'worker', args: folder ? [main, folder] : [main], environment }, log)
  signal.addEventListener('abort', () => child.kill(), { once: true })
  // One that cannot be started never ends: that it cannot has been told.
  await once(child, 'exit').catch(() => {})
}
