import type { Database } from '../../db/database.ts'
import { channel, engine, source } from '../../db/schema/index.ts'
import type { StoredFeedMessage } from '../../feed/feed-log.ts'
import type { Principal } from '../../rights/principal.ts'

/** Maximum time until a change of the caller's rights applies to an open connection. */
const RECHECK_MS = 2000

/** Decides which messages of the live feed an open connection may receive. */
export interface FeedAccess {
  /**
   * Returns a function that decides whether the caller may see a message. The rights are at
   * most `RECHECK_MS` old. Throws `EyrieError` (`auth`, `rights`) if the caller may no
   * longer follow the feed.
   */
  createFilter(): Promise<(message: StoredFeedMessage) => boolean>
}

/**
 * Creates the access of an open connection. `identify` checks the credentials of the connection
 * again, and whether they still permit following the feed.
 */
export function createFeedAccess(
  identify: () => Promise<Principal>,
  database: () => Database,
  nowMs: () => number = Date.now,
): FeedAccess {
  /**
   * Ids of the channels, sources and engines that the caller may see. Undefined if
   * the caller may see all.
   */
  let visibleIds: ReadonlySet<string> | undefined
  let checkedAtMs = Number.NEGATIVE_INFINITY

  async function refreshRights(): Promise<void> {
    const startedAtMs = nowMs()
    const caller = await identify()
    visibleIds = caller.role === 'superadmin' ? undefined : await findVisibleIds(database(), caller)
    checkedAtMs = startedAtMs
  }

  return {
    async createFilter() {
      if (nowMs() - checkedAtMs >= RECHECK_MS) await refreshRights()
      const ids = visibleIds
      return ({ channel_id: channelId, source_id: sourceId, engine_id: engineId }) => {
        if (ids === undefined) return true
        const subject = channelId ?? sourceId ?? engineId
        return subject !== null && ids.has(subject)
      }
    },
  }
}

const findVisibleIds = (database: Database, caller: Principal): Promise<Set<string>> =>
  database.as(
    caller,
    'live feed',
    async tx => {
      const rows = await Promise.all([
        tx.select({ id: channel.channel_id }).from(channel),
        tx.select({ id: source.source_id }).from(source),
        tx.select({ id: engine.engine_id }).from(engine),
      ])
      return new Set(rows.flat().map(({ id }) => id))
    },
    { accessMode: 'read only' },
  )
