import { fetchService, type Log, sleep } from '@eyrie/kit'

const POLL_INTERVAL_MS = 250
const REQUEST_TIMEOUT_MS = 5_000
/** Management starts within seconds. Only the upgrade of a large database takes longer than this. */
const MAX_WAIT_MS = 60_000

/**
 * Waits until management answers, because it may start after the scheduler. Resolves after a minute
 * at the latest: failed requests then say in the log what is wrong.
 */
export async function waitForManagement(
  url: string,
  { signal, log }: { signal: AbortSignal; log: Log },
): Promise<void> {
  if (await isAnswering(url, signal)) return
  log.info({ url }, 'waiting for management to start')
  const limited = AbortSignal.any([signal, AbortSignal.timeout(MAX_WAIT_MS)])
  while (!limited.aborted) {
    await sleep(POLL_INTERVAL_MS, limited)
    if (await isAnswering(url, limited)) return
  }
}

async function isAnswering(url: string, signal: AbortSignal): Promise<boolean> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)])
  try {
    const response = await fetchService(url, '/health', { signal: limited })
    await response.body?.cancel()
    return true
  } catch {
    return false
  }
}
