import { type Health, health } from '@eyrie/contract/health'
import { tryParseJson } from '@eyrie/contract/parse'
import { findRootMessage } from './client-errors.ts'
import { defaultTransport } from './engine-client.ts'

const TIMEOUT_MS = 5_000

/** Reads `/health` of a service. A service that cannot be reached is reported as unhealthy. */
export async function readHealth(url: string, transport = defaultTransport): Promise<Health> {
  const baseUrl = url.replace(/\/+$/, '')
  try {
    const response = await transport.fetch(`${baseUrl}/health`, {
      method: 'GET',
      headers: {},
      body: undefined,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const report = health.safeParse(tryParseJson(await response.text()))
    if (report.success) return report.data
    return createUnhealthy(`${url} answered ${response.status}: is it the address of a service?`)
  } catch (error) {
    return createUnhealthy(`${url} cannot be reached: ${findRootMessage(error as Error)}`)
  }
}

const createUnhealthy = (reason: string): Health => ({ ok: false, reason, alarms: [] })
