import { resolve } from 'node:path'
import type { Log } from '@eyrie/kit'
import type { Operation } from '../api/operation.ts'
import type { Database } from '../db/database.ts'
import { alertOperations } from '../operations/alert.ts'
import { eventOperations } from '../operations/event.ts'
import { notificationOperations } from '../operations/notification.ts'
import { scheduleOperations } from '../operations/schedule.ts'
import { createIngest } from './ingest.ts'
import { type EngineAddress, enginePictures } from './pictures/engine-pictures.ts'
import { createPictureStore } from './pictures/store.ts'
import type { Ingest } from './port.ts'
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
