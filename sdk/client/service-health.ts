import { type Health, health } from '@eyrie/contract/health'
import { tryParseJson } from '@eyrie/contract/parse'
import { findRootMessage } from './client-errors.ts'

const TIMEOUT_MS = 5_000

/** Reads `/health` of a service. A service that cannot be reached is reported as not ok. */
export async function readHealth(url: string): Promise<Health> {
  const unhealthy = (reason: string): Health => ({ ok: false, reason, alarms: [] })
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(`${url.replace(/\/+$/, '')}/health`, { signal })
    const report = health.safeParse(tryParseJson(await response.text()))
    return report.data ?? unhealthy(`${url} answered ${response.status}: is it the address of a service?`)
  } catch (error) {
    return unhealthy(`${url} cannot be reached: ${findRootMessage(error as Error)}`)
  }
}
