import {
  type SchedulerFeedBatch,
  type SchedulerInventory,
  schedulerFeed,
  schedulerInventory,
} from '@eyrie/contract/management/scheduler-feed'
import { parseAs } from '@eyrie/contract/parse'
import { Hono } from 'hono'
import type { Database } from '../../db/database.ts'
import { mqttKind } from '../../deliveries/delivery-settings.ts'
import { readBounds, type StoredFeedMessage } from '../../feed/feed-log.ts'
import type { LiveFeed } from '../../feed/live-feed.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { readStoredSettings } from '../../settings/stored-settings.ts'
import { readInventory } from './read-inventory.ts'

/** Maximum time for which a request waits for messages. */
const WAIT_MS = 20_000

export interface SchedulerFeedOptions {
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  /** Throws `EyrieError` (`unavailable`) until the management service has started. */
  services(): { liveFeed: LiveFeed; secrets: Secrets }
}

/**
 * Routes by which the scheduler follows the live feed. They check no token: that is done
 * where they are mounted.
 */
export function createSchedulerFeedRoutes({ database, services }: SchedulerFeedOptions): Hono {
  const app = new Hono()

  /**
   * Returns the first messages after a position, and the position of the last one that was read.
   */
  async function readMessages(
    after: number,
    kind: string | undefined,
  ): Promise<SchedulerFeedBatch> {
    const stored = await services().liveFeed.read(database(), after)
    if (stored === 'expired') return { position: after, is_expired: true, messages: [] }
    const messages = stored
      .filter(message => kind === undefined || message.kind === kind)
      .map(toMessage)
    return { position: stored.at(-1)?.position ?? after, is_expired: false, messages }
  }

  app.get(schedulerFeed.path, async c => {
    const { after, kind } = parseAs(schedulerFeed.query, c.req.query())
    const { signal } = c.req.raw
    const endsAtMs = Date.now() + WAIT_MS
    let batch = await readMessages(after, kind)
    // A batch is empty if all its messages are of other kinds.
    while (batch.messages.length === 0 && !batch.is_expired && !signal.aborted) {
      const { stopped } = services().liveFeed
      const remainingMs = endsAtMs - Date.now()
      if (remainingMs <= 0 || stopped.aborted) break
      await services().liveFeed.waitForMessages(batch.position, remainingMs, signal)
      batch = await readMessages(batch.position, kind)
    }
    return c.json(batch)
  })

  app.get(schedulerInventory.path, async c => {
    // The position is read before the inventory, so that the scheduler may receive a message
    // twice, but misses none.
    const { last } = await readBounds(database())
    const inventory = await database().system('live feed', async tx => ({
      position: last,
      settings: await readStoredSettings(tx, mqttKind, services().secrets),
      ...(await readInventory(tx)),
    }))
    return c.json(inventory satisfies SchedulerInventory)
  })

  return app
}

/** The sites of a message concern only the rights of users, and the scheduler sees all sites. */
const toMessage = ({ created_at: createdAt, site_ids: _, ...message }: StoredFeedMessage) => ({
  ...message,
  time: createdAt.toISOString(),
})
