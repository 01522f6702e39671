import { sql } from 'drizzle-orm'
import { check, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { engine } from './engine.ts'

/**
 * A source or pipeline that the management service created on an engine, with its last written
 * configuration. When a source or pipeline is deleted, its row here is retained until the engine
 * has deleted it as well. The management service does not touch resources on the engine that have
 * no row here, because another client created them.
 */
export const provision = pgTable(
  'provision',
  {
    engine_id: uuid()
      .notNull()
      .references(() => engine.engine_id, { onDelete: 'cascade' }),
    /** Id of the source or pipeline in this database. */
    record_id: uuid().notNull(),
    kind: text().$type<'source' | 'pipeline'>().notNull(),
    /** Id on the engine; null until the engine has confirmed the creation. */
    sid: integer(),
    /** The highest id of this kind on the engine before the creation. The new id is higher. */
    made_after: integer().notNull(),
    /**
     * The fields that were last written to the engine. They are encrypted, because addresses
     * may contain passwords.
     */
    applied: text().notNull(),
  },
  table => [
    primaryKey({ columns: [table.engine_id, table.record_id] }),
    check('provision_kind_values', sql`${table.kind} in ('source', 'pipeline')`),
  ],
)
