import type { Database } from '../../db/database.ts'
import { channel, engine, source } from '../../db/schema/index.ts'
import type { StoredFeedMessage } from '../../feed/feed-log.ts'
import type { Principal } from '../../rights/principal.ts'

/** Maximum time until a change of rights applies to an open connection. */
const RECHECK_MS = 2000

/** Decides which messages a connection receives, as long as it is open. */
export interface FeedAccess {
  /**
   * Returns whether the caller may see a message, with the rights of the last seconds. Throws `EyrieError` (`auth`, `rights`) if
   * the caller may no longer follow the feed.
   */
  createFilter(): Promise<(message: StoredFeedMessage) => boolean>
}

/** The records that a caller may see, as the lists show them. Undefined: all records. */
type VisibleIds = ReadonlySet<string> | undefined

/** `identify` checks the credentials of the connection again, and the rights to follow the feed. */
export function createFeedAccess(
  identify: () => Promise<Principal>,
  database: () => Database,
  nowMs: () => number = Date.now,
): FeedAccess {
  let visible: VisibleIds
  let checkedAtMs = Number.NEGATIVE_INFINITY

  async function check(): Promise<void> {
    const startedAtMs = nowMs()
    const caller = await identify()
    visible = caller.role === 'superadmin' ? undefined : await findVisibleIds(database(), caller)
    checkedAtMs = startedAtMs
  }

  return {
    async createFilter() {
      if (nowMs() - checkedAtMs >= RECHECK_MS) await check()
      const ids = visible
      return ({ channel_id, source_id, engine_id }) => {
        const subject = channel_id ?? source_id ?? engine_id
        if (ids === undefined) return true
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
