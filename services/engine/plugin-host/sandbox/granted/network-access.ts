import { type Egress, fetchFrom } from '@eyrie/kit'
import type { ElementCall, EncodedResponse } from '../../protocol/element-calls.ts'

const TIMEOUT_MS = 10_000
const MAX_RESPONSE_BYTES = 4 << 20
const MAX_QUOTED_LENGTH = 200
const DEFAULT_PORTS: Record<string, string> = { 'http:': '80', 'https:': '443' }

type FetchCall = Extract<ElementCall, { method: 'fetch' }>

/**
 * Sends an HTTP request of an element through the egress, which decides to which addresses the
 * engine may connect. `declared` lists the servers of the manifest as `host:port`. Throws an
 * `Error` with the reason if the server is not among them, or the request fails.
 */
export async function fetchForElement(
  { url, request }: FetchCall,
  declared: readonly string[],
  egress: Egress,
): Promise<EncodedResponse> {
  const target = parseUrl(url)
  const server = `${target.hostname}:${target.port || DEFAULT_PORTS[target.protocol]}`
  if (!declared.includes(server)) {
    throw new Error(
      `the manifest does not declare ${server}: add "network": ["${server}"] to the capabilities of the element`,
    )
  }

  const { method, headers, body } = request
  const response = await fetchFrom(egress, target, {
    method,
    headers,
    body: body === undefined ? undefined : Buffer.from(body, 'base64'),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    maxBytes: MAX_RESPONSE_BYTES,
  })
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: Buffer.from(await response.arrayBuffer()).toString('base64'),
  }
}

function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (url && Object.hasOwn(DEFAULT_PORTS, url.protocol)) return url
  throw new Error(
    `${text.slice(0, MAX_QUOTED_LENGTH)} is no address of the form http://… or https://…`,
  )
}
