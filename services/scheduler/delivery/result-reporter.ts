import { setTimeout as wait } from 'node:timers/promises'
import type { DeliveryResult } from '@eyrie/contract/management/delivery-queue'
import { backoffDelayMs, type Log } from '@eyrie/kit'
import type { ManagementClient } from '../management-client/management-client.ts'

const MAX_BATCH = 500
const RETRY_BACKOFF = { initialMs: 200, maxMs: 5_000 }

/**
 * Reports results to management in batches, and repeats a report until management has stored it.
 */
export interface ResultReporter {
  report(result: DeliveryResult): void
  /** Resolves when all results are stored. */
  flush(): Promise<void>
}

export function createResultReporter(
  management: Pick<ManagementClient, 'storeResults'>,
  log: Log,
): ResultReporter {
  let waiting: DeliveryResult[] = []
  let sending: Promise<void> | undefined

  async function sendAll(): Promise<void> {
    let failures = 0
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_BATCH)
      try {
        await management.storeResults(batch)
        waiting = waiting.slice(batch.length)
        failures = 0
      } catch (error) {
        if (failures === 0) log.warn({ err: error }, 'failed to report results of deliveries')
        await wait(backoffDelayMs(failures, RETRY_BACKOFF))
        failures += 1
      }
    }
    // In the same turn of the event loop as the last check, so that no result is added in between.
    sending = undefined
  }

  return {
    report(result) {
      waiting.push(result)
      sending ??= sendAll()
    },
    flush: async () => sending,
  }
}
