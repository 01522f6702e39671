import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '@eyrie/kit'
import { findOutdatedPackages } from './outdated-packages.ts'

/** Checks now and then whether packages that parse video are outdated. */
export interface PackageMonitor {
  /** Returns a message for the operator if packages are outdated. */
  alarms(): string[]
  stop(): void
}

/** The system updates its package lists once a day. */
const INTERVAL_MS = 6 * 3_600_000

/** Starts to check the packages in the background, at once and every few hours. */
export function monitorPackages(log: Log, find = findOutdatedPackages): PackageMonitor {
  const stopping = new AbortController()
  let alarm: string | undefined

  async function checkPeriodically(): Promise<void> {
    while (!stopping.signal.aborted) {
      const packages = await find()
      const names = packages.map(({ name, installed, candidate }) => `${name} ${installed} (${candidate})`)
      if (names.length > 0 && !alarm) log.warn({ packages: names }, 'packages that parse video are outdated')
      alarm =
        names.length === 0
          ? undefined
          : `packages that parse video are older than those in the archive: ${names.join(', ')}. Run make run as root, or apt-get install --only-upgrade`
      await wait(INTERVAL_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }

  void checkPeriodically()
  return {
    alarms: () => (alarm === undefined ? [] : [alarm]),
    stop: () => stopping.abort(),
  }
}
