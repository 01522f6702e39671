import { type Isolation, isolation } from '@eyrie/contract/health'
import { sleep } from '@eyrie/kit'
import { z } from 'zod'
import type { Upstream } from './http/live/upstream-client.ts'

const INTERVAL_MS = 30_000
/** Interval while a service does not answer, because it starts or restarts. */
const RETRY_INTERVAL_MS = 2_000

const reportedHealth = z.looseObject({ isolation: isolation.optional() })

/**
 * Checks periodically whether the other services of this appliance are isolated: from the rest of
 * the machine, and from each other. Whether that is possible depends on the kernel.
 */
export interface IsolationMonitor {
  start(): void
  stop(): Promise<void>
  /**
   * Returns an alarm for each service whose isolation is incomplete, with the remedies. The
   * service works nevertheless.
   */
  alarms(): string[]
}

export function createIsolationMonitor(
  services: Record<string, Pick<Upstream, 'get'>>,
): IsolationMonitor {
  /** The last reported isolation by name of service. */
  const known = new Map<string, Isolation>()
  const stopping = new AbortController()
  const { signal } = stopping
  let running: Promise<unknown> = Promise.resolve()

  async function poll(name: string, service: Pick<Upstream, 'get'>): Promise<void> {
    while (!signal.aborted) {
      // The last known isolation of a service that does not answer remains.
      const health = await service.get('/health', reportedHealth).catch(() => undefined)
      if (health?.isolation) known.set(name, health.isolation)
      await sleep(health ? INTERVAL_MS : RETRY_INTERVAL_MS, signal)
    }
  }

  return {
    start() {
      running = Promise.all(Object.entries(services).map(([name, service]) => poll(name, service)))
    },
    async stop() {
      stopping.abort()
      await running
    },
    alarms: () =>
      [...known]
        .filter(([, { level }]) => level !== 'full')
        .map(
          ([name, { level, missing }]) =>
            `the isolation of ${name} is ${level}: ${missing.join('; ')}`,
        ),
  }
}
