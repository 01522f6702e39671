import { sleep, sleepUntil } from '@eyrie/kit'
import type { Database } from '../db/database.ts'
import { FEED_CHANNEL } from '../db/schema/index.ts'
import { readBounds, readMessages, type StoredFeedMessage } from './feed-log.ts'
import { RecentMessages } from './recent-messages.ts'

/** Maximum number of messages that one query, or one call of `read`, returns. */
const BATCH_SIZE = 500
/**
 * Number of messages that are retained in memory, so that a message is not read from the database
 * for every connection.
 */
const CACHE_SIZE = 2000
/** Messages that are announced within this time are read together. */
const READ_INTERVAL_MS = 50
const RETRY_MS = 1000

/** Reads the live feed for all connections of this process. Idle until started. */
export interface LiveFeed {
  start(database: Database): void
  /** Stops reading, and ends all calls of `waitForMessages`. */
  stop(): Promise<void>
  /**
   * Returns the first messages after a position, at most a batch. Returns `expired` if some
   * messages after the position may have been deleted already.
   */
  read(database: Database, after: number): Promise<readonly StoredFeedMessage[] | 'expired'>
  /**
   * Resolves when there may be messages after a position, after `timeoutMs`, or when
   * `signal` is aborted.
   */
  waitForMessages(after: number, timeoutMs: number, signal: AbortSignal): Promise<void>
  /** Aborted when `stop` is called. */
  readonly stopped: AbortSignal
}

export function createLiveFeed(): LiveFeed {
  const stopping = new AbortController()
  const { signal: stopped } = stopping
  /** The newest messages. Undefined until the feed was read for the first time. */
  let recent: RecentMessages | undefined
  /** Resolves when messages are added to `recent`, and is then replaced. */
  let nextAddition = Promise.withResolvers<void>()
  /**
   * Resolves when the database announces new messages. It is replaced before they are read, so that
   * no announcement is missed.
   */
  let nextAnnouncement = Promise.withResolvers<void>()
  /** Waits for the end of the background work. Called after `stopped` was aborted. */
  let finishWork: (() => Promise<unknown>) | undefined

  async function readRepeatedly(database: Database): Promise<void> {
    while (!stopped.aborted) {
      await nextAnnouncement.promise
      nextAnnouncement = Promise.withResolvers()
      try {
        await readNewMessages(database)
        await sleep(READ_INTERVAL_MS, stopped)
      } catch {
        // The supervisor of the database logs the failure. The feed is read again without waiting
        // for another announcement.
        nextAnnouncement.resolve()
        await sleep(RETRY_MS, stopped)
      }
    }
  }

  async function readNewMessages(database: Database): Promise<void> {
    if (!recent) {
      const { last } = await readBounds(database)
      recent = new RecentMessages(last, CACHE_SIZE)
      wakeReaders()
    }
    while (!stopped.aborted) {
      const messages = await readMessages(database, recent.end, BATCH_SIZE)
      if (messages.length === 0) return
      recent.add(messages)
      wakeReaders()
    }
  }

  /** Ends the running calls of `waitForMessages`. */
  function wakeReaders(): void {
    nextAddition.resolve()
    nextAddition = Promise.withResolvers()
  }

  return {
    stopped,
    start(database) {
      const announce = () => nextAnnouncement.resolve()
      // Called for each announcement and whenever listening starts again, because announcements
      // are lost while disconnected.
      const stopListening = database.listen(FEED_CHANNEL, announce, announce)
      const reading = readRepeatedly(database)
      finishWork = () => Promise.all([stopListening(), reading])
    },
    async stop() {
      stopping.abort()
      // The reader may be waiting for an announcement.
      nextAnnouncement.resolve()
      await finishWork?.()
    },
    async read(database, after) {
      const cached = recent?.readAfter(after, BATCH_SIZE)
      if (cached) return cached
      const messages = await readMessages(database, after, BATCH_SIZE)
      // The bounds are read last, because messages may expire between the two queries. If the
      // message at the position is no longer stored, messages that followed it may be missing too.
      const { first } = await readBounds(database)
      return first > after ? 'expired' : messages
    },
    async waitForMessages(after, timeoutMs, signal) {
      const hasMessages = recent !== undefined && recent.end > after
      if (hasMessages) return
      await sleepUntil(nextAddition.promise, timeoutMs, AbortSignal.any([signal, stopped]))
    },
  }
}
