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

export interface FeedRequest {
  /** Position in the feed. The messages after it are read. */
  after: number
  /** Reads only messages of this kind. If undefined, reads all messages. */
  kind: string | undefined
  signal: AbortSignal
}

/** The live feed of management. Calls reject while management is unreachable. */
export interface FeedClient extends Pick<ManagementClient, 'readPicture'> {
  readInventory(signal: AbortSignal): Promise<SchedulerInventory>
  /** Resolves as soon as there are messages, or with none after some seconds. */
  readFeed(request: FeedRequest): Promise<SchedulerFeedBatch>
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
    async readInventory(signal) {
      const answer = await get(schedulerInventory.path, REQUEST_TIMEOUT_MS, signal)
      return parseAs(schedulerInventory.response, answer)
    },
    async readFeed({ after, kind, signal }) {
      const query = new URLSearchParams({ after: String(after), ...(kind && { kind }) })
      const answer = await get(`${schedulerFeed.path}?${query}`, FEED_TIMEOUT_MS, signal)
      return parseAs(schedulerFeed.response, answer)
    },
  }
}
