import { type Log, repeat, unlessAborted } from '@eyrie/kit'
import type { ManagementClient } from './management-client.ts'

const BACKOFF = { initialMs: 250, maxMs: 250 }
/** Management starts within seconds. Only the upgrade of a large database takes longer. */
const MAX_WAIT_MS = 60_000

/**
 * Waits until management answers requests, because it may start after the scheduler. Resolves after
 * a minute at the latest: requests then fail, and the log says why.
 */
export async function waitForManagement(
  management: Pick<ManagementClient, 'readSchedules'>,
  { signal: stopping, log }: { signal: AbortSignal; log: Log },
): Promise<void> {
  const answered = new AbortController()
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(MAX_WAIT_MS), answered.signal])

  async function request() {
    await unlessAborted(management.readSchedules(), signal)
    answered.abort()
  }
  await repeat(request, {
    signal,
    backoff: BACKOFF,
    onFailure: error => log.info({ reason: (error as Error).message }, 'waiting for management'),
  })
}
