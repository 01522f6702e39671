import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../db/database.ts'
import { FEED_CHANNEL } from '../db/schema/index.ts'
import { readBounds, readMessages, type StoredFeedMessage } from './feed-log.ts'

/** Messages that one query returns. */
const BATCH_SIZE = 500
/** Newest messages that are kept in memory, so that each is read once and not for every connection. */
const CACHE_SIZE = 2000
/** Messages of this period are read together. */
const READ_INTERVAL_MS = 50
const RETRY_MS = 1000

/** Reads the live feed for all connections of this process. Idle until started. */
export interface LiveFeed {
  start(database: Database): void
  /** Ends all waits. */
  stop(): Promise<void>
  /** Returns up to 500 messages after a position, or `expired` if some of them are deleted already. */
  read(database: Database, after: number): Promise<readonly StoredFeedMessage[] | 'expired'>
  /** Resolves when there may be messages after a position, after `timeoutMs`, or when `signal` is aborted. */
  waitForMessages(after: number, timeoutMs: number, signal: AbortSignal): Promise<void>
  /** Is aborted by `stop`. */
  readonly stopped: AbortSignal
}

export function createLiveFeed(): LiveFeed {
  const stopping = new AbortController()
  const { signal: stopped } = stopping
  /** Without gaps, in ascending order. */
  const cache: StoredFeedMessage[] = []
  /** The position before the first message in the cache. Undefined until the feed has started. */
  let cacheStart: number | undefined
  let added = Promise.withResolvers<void>()
  let announced = Promise.withResolvers<void>()
  let stopListening: (() => Promise<void>) | undefined
  let reading: Promise<void> | undefined

  const findEnd = () => cache.at(-1)?.position ?? cacheStart ?? 0

  async function readNew(database: Database): Promise<void> {
    if (cacheStart === undefined) {
      cacheStart = (await readBounds(database)).last
      announceAdded()
    }
    for (;;) {
      const messages = await readMessages(database, findEnd(), BATCH_SIZE)
      if (messages.length === 0) return
      cache.push(...messages)
      const excess = cache.splice(0, Math.max(0, cache.length - CACHE_SIZE))
      cacheStart = excess.at(-1)?.position ?? cacheStart
      announceAdded()
    }
  }

  function announceAdded() {
    added.resolve()
    added = Promise.withResolvers()
  }

  async function readRepeatedly(database: Database): Promise<void> {
    while (!stopped.aborted) {
      await announced.promise
      announced = Promise.withResolvers()
      try {
        await readNew(database)
        await waitFor(READ_INTERVAL_MS)
      } catch {
        // The supervisor of the database reports why it is unreachable.
        announced.resolve()
        await waitFor(RETRY_MS)
      }
    }
  }

  const waitFor = (ms: number) => wait(ms, undefined, { signal: stopped }).catch(() => {})

  return {
    stopped,
    start(database) {
      const announce = () => announced.resolve()
      // Announcements are lost while disconnected.
      stopListening = database.listen(FEED_CHANNEL, announce, announce)
      reading = readRepeatedly(database)
    },
    async stop() {
      stopping.abort()
      announced.resolve()
      await Promise.all([stopListening?.(), reading])
    },
    async read(database, after) {
      if (cacheStart === undefined || after < cacheStart) {
        const messages = await readMessages(database, after, BATCH_SIZE)
        // Read afterwards, because messages expire in between.
        return (await readBounds(database)).first > after ? 'expired' : messages
      }
      const start = cache.findIndex(({ position }) => position > after)
      return start === -1 ? [] : cache.slice(start, start + BATCH_SIZE)
    },
    async waitForMessages(after, timeoutMs, signal) {
      if (findEnd() > after) return
      const timer = new AbortController()
      const ended = AbortSignal.any([signal, stopped, timer.signal])
      await Promise.race([added.promise, wait(timeoutMs, undefined, { signal: ended }).catch(() => {})])
      timer.abort()
    },
  }
}
