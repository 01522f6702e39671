import { type Log, sleep, unlessAborted } from '@eyrie/kit'
import type { ManagementClient } from './management-client.ts'

const POLL_INTERVAL_MS = 250
/** Management starts within seconds. Only the upgrade of a large database takes longer than this. */
const MAX_WAIT_MS = 60_000

/**
 * Waits until management answers requests, because it may start after the scheduler. Resolves after
 * a minute at the latest: requests then fail, and the log says why.
 */
export async function waitForManagement(
  management: Pick<ManagementClient, 'readSchedules'>,
  { signal, log }: { signal: AbortSignal; log: Log },
): Promise<void> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(MAX_WAIT_MS)])
  let isWaiting = false
  while (!limited.aborted) {
    try {
      await unlessAborted(management.readSchedules(), limited)
      return
    } catch (error) {
      if (limited.aborted) return
      if (!isWaiting) log.info({ reason: (error as Error).message }, 'waiting for management')
      isWaiting = true
    }
    await sleep(POLL_INTERVAL_MS, limited)
  }
}
