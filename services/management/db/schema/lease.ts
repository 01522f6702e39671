import { index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { createdAt, instant, key, optionalText } from './columns.ts'
import { engine } from './engine.ts'

/**
 * A running management service. It renews its row, and is deleted by another one
 * when it no longer does.
 */
export const managementInstance = pgTable('management_instance', {
  instance_id: uuid().primaryKey(),
  host_name: optionalText(),
  /** Until when the instance counts as running, by the clock of the database. */
  alive_until: instant().notNull(),
})

/**
 * Work that one instance does for all: following the engine with the id `subject`, or
 * the background jobs.
 */
export const lease = pgTable(
  'lease',
  {
    subject: text().primaryKey(),
    instance_id: uuid()
      .notNull()
      .references(() => managementInstance.instance_id, { onDelete: 'cascade' }),
    /**
     * Everything that the engine had sent by this time is stored, by the clock of the database.
     * Null until that is known, and for the background jobs.
     */
    stored_until: instant(),
  },
  table => [index('lease_by_instance').on(table.instance_id)],
)

/** What an instance requests of the instance that follows an engine. */
export const engineRequest = pgTable(
  'engine_request',
  {
    request_id: key().primaryKey(),
    engine_id: uuid()
      .notNull()
      .references(() => engine.engine_id, { onDelete: 'cascade' }),
    kind: text().$type<'reconcile' | 'repair'>().notNull(),
    requested_at: createdAt(),
    /** Null while the request waits. */
    finished_at: instant(),
    /** Why the request has failed. */
    failure: optionalText(),
  },
  table => [index('engine_request_by_engine').on(table.engine_id)],
)
