import { type Health, health } from '@eyrie/contract/health'
import { tryParseJson } from '@eyrie/contract/parse'
import { findRootMessage } from './client-errors.ts'

const TIMEOUT_MS = 5_000

/** What a service says of itself at `/health`, which needs no token; one that does not answer is not ok. */
export async function readHealth(url: string): Promise<Health> {
  const ill = (reason: string): Health => ({ ok: false, reason, alarms: [] })
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(`${url.replace(/\/+$/, '')}/health`, { signal })
    const told = health.safeParse(tryParseJson(await response.text()))
    return told.data ?? ill(`${url} answered ${response.status}: is it the address of a service?`)
  } catch (error) {
    return ill(`${url} cannot be reached: ${findRootMessage(error as Error)}`)
  }
}
