import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { operatorLink, toConsoleLink } from '@eyrie/contract/management/operator'
import type { ServiceLog } from '../process/service-log.ts'

/**
 * Requests a link that opens the console once, in a browser on this machine, from
 * the management service.
 */
export async function requestConsoleLink(
  managementUrl: string,
  data: string,
  signal: AbortSignal,
): Promise<string> {
  const token = readFileSync(join(data, 'secrets/operator-token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(new URL(operatorLink.path, managementUrl), {
    method: 'POST',
    headers,
    signal,
  })
  if (!response.ok) throw new Error(`the management service answered ${response.status}`)
  return toConsoleLink(managementUrl, operatorLink.response.parse(await response.json()))
}

/** Logs the address of the console, and passes a link to `print`, which must not log it. */
export async function announceConsoleLink(
  managementUrl: string,
  data: string,
  log: ServiceLog,
  { signal, print }: { signal: AbortSignal; print: (text: string) => void },
): Promise<void> {
  log.info('eyrie', `ready: open ${managementUrl} and sign in, or open a link of ./eyrie open`)
  await requestConsoleLink(managementUrl, data, signal).then(
    link => print(`\n  ${link}\n\nThis link opens the console once, in a browser on this machine.`),
    err => {
      // The appliance may be stopped as soon as it is ready.
      if (!signal.aborted) log.warn('quickstart', 'failed to create a link to the console', { err })
    },
  )
}
