import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '@eyrie/kit'
import { lt } from 'drizzle-orm'
import { lookByTime } from '../alerts/by-time.ts'
import type { Database } from '../db/database.ts'
import { logUnlessUnavailable } from '../db/database-errors.ts'
import { notification } from '../db/schema/index.ts'
import { keepPartitions } from './partitions.ts'
import { fetchPictures, type PictureSource, removeOldPictures } from './pictures/fetcher.ts'
import type { PictureStore } from './pictures/store.ts'

export interface UpkeepOptions {
  source: PictureSource
  store: PictureStore
  /** Epoch ms. */
  now(): number
  /** Events, statistics, notifications and their pictures are kept so long. */
  retentionMs: number
  log: Log
}

/** What has to be done about events as time goes on, whether or not any come. */
export interface Upkeep {
  start(database: Database): void
  stop(): Promise<void>
}

const ALERTS_MS = 1000
const PICTURES_MS = 500
const RETENTION_MS = 3_600_000

export function createUpkeep({ source, store, now, retentionMs, log }: UpkeepOptions): Upkeep {
  const stopping = new AbortController()
  const { signal } = stopping
  const running: Promise<void>[] = []

  /** Does a piece of work again and again; one that fails is done the next time, and told once until it succeeds. */
  async function repeat(name: string, everyMs: number, work: () => Promise<void>): Promise<void> {
    let isFailing = false
    while (!signal.aborted) {
      try {
        await work()
        isFailing = false
      } catch (error) {
        if (!signal.aborted && !isFailing) logUnlessUnavailable(log, `${name} cannot be looked after`)(error)
        isFailing = true
      }
      await wait(everyMs, undefined, { signal }).catch(() => {})
    }
  }

  async function retain(database: Database): Promise<void> {
    await keepPartitions(database, now(), retentionMs)
    await database.system('retention', tx =>
      tx.delete(notification).where(lt(notification.notification_time, new Date(now() - retentionMs))),
    )
    await removeOldPictures(database, store, now(), retentionMs)
  }

  return {
    start(database) {
      running.push(
        repeat('what is old', RETENTION_MS, () => retain(database)),
        repeat('alerts', ALERTS_MS, () => lookByTime(database, now())),
        repeat('pictures', PICTURES_MS, () => fetchPictures({ database, source, store, log, signal })),
      )
    },
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}
