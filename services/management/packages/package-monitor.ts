import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '@eyrie/kit'
import { findOutdatedPackages } from './outdated-packages.ts'

/** Checks now and then whether packages that parse video are outdated. */
export interface PackageMonitor {
  /** Returns a message for the operator if packages are outdated. */
  alarms(): string[]
  stop(): void
}

/** The check takes half a second of CPU, which services need while they start. */
const FIRST_CHECK_AFTER_MS = 60_000
/** The system updates its package lists once a day. */
const INTERVAL_MS = 6 * 3_600_000

/** Starts to check the packages in the background, soon after the start and every few hours. */
export function monitorPackages(
  log: Log,
  { find = findOutdatedPackages, firstCheckAfterMs = FIRST_CHECK_AFTER_MS } = {},
): PackageMonitor {
  const stopping = new AbortController()
  let alarm: string | undefined

  const pause = (ms: number) => wait(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => {})

  async function checkPeriodically(): Promise<void> {
    await pause(firstCheckAfterMs)
    while (!stopping.signal.aborted) {
      const packages = await find()
      const names = packages.map(({ name, installed, candidate }) => `${name} ${installed} (${candidate})`)
      if (names.length > 0 && !alarm) log.warn({ packages: names }, 'packages that parse video are outdated')
      alarm =
        names.length === 0
          ? undefined
          : `packages that parse video are older than those in the archive: ${names.join(', ')}. Run make run as root, or apt-get install --only-upgrade`
      await pause(INTERVAL_MS)
    }
  }

  void checkPeriodically()
  return {
    alarms: () => (alarm === undefined ? [] : [alarm]),
    stop: () => stopping.abort(),
  }
}
