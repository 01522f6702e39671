import { sql } from 'drizzle-orm'
import { check, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { engine } from './engine.ts'

/**
 * Sources and pipelines that management created on an engine, with their last written configuration. A row is retained
 * after its record is deleted until it is deleted on the engine, too. Resources without a row were created by someone else.
 */
export const provision = pgTable(
  'provision',
  {
    engine_id: uuid()
      .notNull()
      .references(() => engine.engine_id, { onDelete: 'cascade' }),
    /** The id of the source or pipeline. */
    record_id: uuid().notNull(),
    kind: text().$type<'source' | 'pipeline'>().notNull(),
    /** The id on the engine; null while the outcome of its creation is unknown. */
    sid: integer(),
    /** The highest id of its kind on the engine before the creation: the created one has a higher id. */
    made_after: integer().notNull(),
    /** The fields that were last written to the engine. Encrypted, because addresses may contain passwords. */
    applied: text().notNull(),
  },
  table => [
    primaryKey({ columns: [table.engine_id, table.record_id] }),
    check('provision_kind_values', sql`${table.kind} in ('source', 'pipeline')`),
  ],
)
