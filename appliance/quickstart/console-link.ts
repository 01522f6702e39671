import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { operatorLink, toConsoleLink } from '@eyrie/contract/management/operator'

/** Requests a link that opens the console once, in a browser on this machine, from the management service. */
export async function requestConsoleLink(
  managementUrl: string,
  data: string,
  signal: AbortSignal,
): Promise<string> {
  const token = readFileSync(join(data, 'secrets/operator-token'), 'utf8').trim()
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(new URL(operatorLink.path, managementUrl), { method: 'POST', headers, signal })
  if (!response.ok) throw new Error(`the management service answered ${response.status}`)
  return toConsoleLink(managementUrl, operatorLink.response.parse(await response.json()))
}
