import { resolve } from 'node:path'
import type { Egress, Log } from '@eyrie/kit'
import { and, isNotNull, lt, type SQL } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Database } from '../db/database.ts'
import { deleteInBatches } from '../db/delete-in-batches.ts'
import { delivery, incident, notification, report } from '../db/schema/index.ts'
import { createIngest } from './ingest/ingest.ts'
import type { Ingest, MessageSubscriber } from './ingest/ingest-port.ts'
import { maintainPartitions } from './partitions.ts'
import { fetchSnapshots } from './pictures/notification-snapshots.ts'
import { fetchPictures, removeExpiredPictures } from './pictures/picture-fetcher.ts'
import { createPictureSource, type EngineAddress } from './pictures/picture-source.ts'
import { createPictureStore, type PictureStore } from './pictures/picture-store.ts'

/** The parts of the management service and the settings on which the storage of events depends. */
export interface EventsOptions {
  /** Folder of the appliance's data. */
  data: string
  /**
   * Resolves to the address of an engine, or to undefined if the engine is no longer registered.
   */
  findAddress(engineId: string): Promise<EngineAddress | undefined>
  subscribers: readonly MessageSubscriber[]
  /** Opens the connections to engines. */
  egress: Egress
  /** How long events, statistics, notifications and pictures are retained. */
  retentionMs: number
  /** Epoch ms. */
  now(): number
  log: Log
}

/**
 * Stores the events of engines, and the statistics, pictures and notifications that result from
 * them.
 */
export interface Events {
  pictures: PictureStore
  createIngest(database: Database): Ingest
  /** Fetches all due pictures from their engines. */
  fetchPictures(database: Database, signal: AbortSignal): Promise<void>
  /**
   * Requests snapshots from the engines for the notifications whose moment has no
   * picture of an event.
   */
  fetchSnapshots(database: Database, signal: AbortSignal): Promise<void>
  /**
   * Creates the event partitions of the coming weeks, and deletes all data that is older than the
   * retention at the time `nowMs` (epoch ms). Resolves to false if the table of events was in use,
   * so that its partitions are left to the next run. Rejects if `signal` aborts.
   */
  applyRetention(database: Database, nowMs: number, signal: AbortSignal): Promise<boolean>
}

export function createEvents(options: EventsOptions): Events {
  const { data, findAddress, egress, subscribers, retentionMs, now, log } = options
  const pictures = createPictureStore(resolve(data, 'management/pictures'))
  const source = createPictureSource(findAddress, egress)
  return {
    pictures,
    createIngest: database => createIngest({ database, subscribers, log }),
    fetchPictures: (database, signal) =>
      fetchPictures({ database, source, store: pictures, log, signal }),
    fetchSnapshots: (database, signal) =>
      fetchSnapshots({ database, source, store: pictures, log, signal }),
    async applyRetention(database, nowMs, signal) {
      const oldestMs = nowMs - retentionMs
      const oldest = new Date(oldestMs)
      // Partitions are needed for the time that the clock shows, even if it is not trusted.
      const isDone = await maintainPartitions(database, { nowMs: now(), oldestMs, signal })
      const deleteExpired = (table: PgTable, condition: SQL | undefined) =>
        deleteInBatches(database, table, condition, signal)
      await deleteExpired(notification, lt(notification.notification_time, oldest))
      await deleteExpired(incident, and(lt(incident.last_at, oldest), isNotNull(incident.ended_at)))
      // Most deliveries are deleted with their notification. Tests and digests have none.
      await deleteExpired(delivery, lt(delivery.created_at, oldest))
      await deleteExpired(report, lt(report.created_at, oldest))
      await removeExpiredPictures({ database, store: pictures, now: nowMs, retentionMs, signal })
      return isDone
    },
  }
}
