import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '@eyrie/kit'
import { findOutdatedPackages } from './outdated-packages.ts'

/** Checks periodically whether installed packages that parse video of cameras are outdated. */
export interface PackageMonitor {
  /** Returns a message for the operator if packages are outdated. */
  alarms(): string[]
  stop(): void
}

/** The check uses the CPU for half a second, which would delay the start of other services. */
const FIRST_CHECK_AFTER_MS = 60_000
/** The system updates its package lists once a day. */
const INTERVAL_MS = 6 * 3_600_000

/** Checks the packages in the background, a minute after the start and then every few hours. */
export function monitorPackages(
  log: Log,
  { find = findOutdatedPackages, firstCheckAfterMs = FIRST_CHECK_AFTER_MS } = {},
): PackageMonitor {
  const stopping = new AbortController()
  let alarm: string | undefined

  /** Waits until the time is over or `stop` is called. */
  const pause = (ms: number) =>
    wait(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => {})

  async function checkPeriodically(): Promise<void> {
    await pause(firstCheckAfterMs)
    while (!stopping.signal.aborted) {
      const packages = await find()
      const versions = packages.map(
        ({ name, installed, candidate }) => `${name} ${installed} (${candidate})`,
      )
      const wasOutdated = alarm !== undefined
      alarm = versions.length > 0 ? describeOutdated(versions) : undefined
      if (alarm !== undefined && !wasOutdated) {
        log.warn({ packages: versions }, 'packages that parse video are outdated')
      }
      await pause(INTERVAL_MS)
    }
  }

  void checkPeriodically()
  return {
    alarms: () => (alarm === undefined ? [] : [alarm]),
    stop: () => stopping.abort(),
  }
}

const describeOutdated = (versions: readonly string[]) =>
  `packages that parse video are older than those in the archive: ${versions.join(', ')}. Run make run as root, or apt-get install --only-upgrade`
