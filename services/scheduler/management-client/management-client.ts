import {
  type ClaimedBatch,
  type DeliveryClaim,
  type DeliveryResult,
  deliveryChanges,
  deliveryClaim,
  deliveryPicturePath,
  deliveryResults,
} from '@eyrie/contract/management/delivery-queue'
import { parseAs } from '@eyrie/contract/parse'
import { type EgressRequest, fetchService } from '@eyrie/kit'

/** The internal API of management. Calls reject while management is unreachable. */
export interface ManagementClient {
  /** Claims due deliveries. */
  claim(claim: DeliveryClaim): Promise<ClaimedBatch>
  storeResults(results: readonly DeliveryResult[]): Promise<void>
  /** Resolves with the current version once it differs from `version`, or after some seconds. */
  waitForChange(version: number, signal: AbortSignal): Promise<number>
  /** Resolves to a JPEG, or to undefined if it is not stored. */
  readPicture(sha256: string, signal: AbortSignal): Promise<Buffer | undefined>
}

const REQUEST_TIMEOUT_MS = 10_000
/** Management answers a request for changes after 20 s at the latest. */
const CHANGE_TIMEOUT_MS = 30_000

export function createManagementClient(url: string, token: string): ManagementClient {
  const authorization = `Bearer ${token}`

  async function send(path: string, options: EgressRequest): Promise<Response> {
    return fetchService(url, path, { ...options, headers: { ...options.headers, authorization } })
  }

  async function post(path: string, body: object): Promise<unknown> {
    const response = await send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    })
    return readJson(response)
  }

  return {
    claim: async claim => parseAs(deliveryClaim.response, await post(deliveryClaim.path, claim)),

    async storeResults(results) {
      await post(deliveryResults.path, { results })
    },

    async waitForChange(version, signal) {
      const path = `${deliveryChanges.path}?version=${version}`
      const limited = AbortSignal.any([signal, AbortSignal.timeout(CHANGE_TIMEOUT_MS)])
      const answer = await readJson(await send(path, { signal: limited }))
      return parseAs(deliveryChanges.response, answer).version
    },

    async readPicture(sha256, signal) {
      const response = await send(deliveryPicturePath(sha256), { signal })
      if (response.status === 404) {
        await response.body?.cancel()
        return undefined
      }
      await assertOk(response)
      return Buffer.from(await response.arrayBuffer())
    },
  }
}

async function readJson(response: Response): Promise<unknown> {
  await assertOk(response)
  return response.json()
}

async function assertOk(response: Response): Promise<void> {
  if (response.ok) return
  const text = await response.text()
  throw new Error(`management answers ${response.status}: ${text.slice(0, 200)}`)
}
