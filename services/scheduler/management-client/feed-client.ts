import {
  type SchedulerFeedBatch,
  type SchedulerInventory,
  schedulerFeed,
  schedulerInventory,
} from '@eyrie/contract/management/scheduler-feed'
import { parseAs } from '@eyrie/contract/parse'
import { fetchService } from '@eyrie/kit'
import type { ManagementClient } from './management-client.ts'

const REQUEST_TIMEOUT_MS = 10_000
/** Management answers a request for messages after 20 s at the latest. */
const FEED_TIMEOUT_MS = 30_000

/** The live feed of management. Calls reject while management is unreachable. */
export interface FeedClient extends Pick<ManagementClient, 'readPicture'> {
  readInventory(signal: AbortSignal): Promise<SchedulerInventory>
  /**
   * Resolves with the messages after a position, of one kind or of all, as soon as there are some,
   * or after some seconds.
   */
  readFeed(
    after: number,
    kind: string | undefined,
    signal: AbortSignal,
  ): Promise<SchedulerFeedBatch>
}

export function createFeedClient(
  url: string,
  token: string,
  management: ManagementClient,
): FeedClient {
  async function get(path: string, timeoutMs: number, signal: AbortSignal): Promise<unknown> {
    const response = await fetchService(url, path, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    if (response.ok) return response.json()
    throw new Error(
      `management answers ${response.status}: ${(await response.text()).slice(0, 200)}`,
    )
  }

  return {
    readPicture: management.readPicture,
    readInventory: async signal =>
      parseAs(
        schedulerInventory.response,
        await get(schedulerInventory.path, REQUEST_TIMEOUT_MS, signal),
      ),
    async readFeed(after, kind, signal) {
      const query = new URLSearchParams({ after: String(after), ...(kind && { kind }) })
      const answer = await get(`${schedulerFeed.path}?${query}`, FEED_TIMEOUT_MS, signal)
      return parseAs(schedulerFeed.response, answer)
    },
  }
}
