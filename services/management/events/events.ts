import { resolve } from 'node:path'
import type { Log } from '@eyrie/kit'
import type { Database } from '../db/open.ts'
import type { Operation } from '../http/api/operation.ts'
import { alertOperations } from '../http/operations/events/alert-operations.ts'
import { eventOperations } from '../http/operations/events/event-operations.ts'
import { notificationOperations } from '../http/operations/events/notification-operations.ts'
import { scheduleOperations } from '../http/operations/events/schedule-operations.ts'
import { createIngest } from './ingest/ingest.ts'
import type { Ingest } from './ingest/ingest-port.ts'
import { type EngineAddress, enginePictures } from './pictures/engine-pictures.ts'
import { createPictureStore } from './pictures/picture-store.ts'
import { createUpkeep } from './upkeep.ts'

export interface EventsOptions {
  /** Folder of the appliance's data. */
  data: string
  /** How an engine is reached; undefined where it is managed no longer. */
  addressOf(engine_id: string): Promise<EngineAddress | undefined>
  /** Events, statistics, notifications and their pictures are kept so long. */
  retentionMs: number
  now(): Date
  log: Log
}

/** What engines tell, what is made of it, and what is asked of that. */
export interface Events {
  operations: Operation[]
  ingest(database: Database): Ingest
  /** Begins to look after alerts, pictures and what is old. */
  start(database: Database): void
  stop(): Promise<void>
}

export function createEvents({ data, addressOf, retentionMs, now, log }: EventsOptions): Events {
  const pictures = createPictureStore(resolve(data, 'management/pictures'))
  const epochMs = () => now().getTime()
  const upkeep = createUpkeep({
    source: enginePictures(addressOf),
    store: pictures,
    now: epochMs,
    retentionMs,
    log,
  })
  return {
    operations: [
      ...eventOperations(epochMs),
      ...notificationOperations(pictures, epochMs),
      ...alertOperations,
      ...scheduleOperations,
    ],
    ingest: database => createIngest({ database, log }),
    start: upkeep.start,
    stop: upkeep.stop,
  }
}
