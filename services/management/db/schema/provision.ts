import { sql } from 'drizzle-orm'
import { check, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { engine } from './engine.ts'

/**
 * What management has made on an engine, and how it made it last. A row outlives its record here until what it stands for
 * is gone from the engine, too; what has no row was made by others.
 */
export const provision = pgTable(
  'provision',
  {
    engine_id: uuid()
      .notNull()
      .references(() => engine.engine_id, { onDelete: 'cascade' }),
    /** Of the source or pipeline. */
    record_id: uuid().notNull(),
    kind: text().$type<'source' | 'pipeline'>().notNull(),
    /** The id on the engine; null while it is not known whether the making of it has come to pass. */
    sid: integer(),
    /** The greatest id of its kind that the engine had before: what was made has a greater one. */
    made_after: integer().notNull(),
    /** Encrypted, since addresses hold passwords: the fields as they were last written to the engine. */
    applied: text().notNull(),
  },
  table => [
    primaryKey({ columns: [table.engine_id, table.record_id] }),
    check('provision_kind_values', sql`${table.kind} in ('source', 'pipeline')`),
  ],
)
