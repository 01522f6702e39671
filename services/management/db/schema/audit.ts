import type { AuditEntry } from '@eyrie/contract/management/index'
import { sql } from 'drizzle-orm'
import { check, index, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { createdAt, key, optionalText } from './columns.ts'

/** The audit log: one row for each change of a record. Only triggers insert rows. */
export const audit = pgTable(
  'audit',
  {
    audit_id: key().primaryKey().default(sql`gen_random_uuid()`),
    time: createdAt(),
    /**
     * Null for changes by the appliance itself. Not a foreign key, because entries outlive their
     * user.
     */
    user_id: uuid(),
    /** Name of the user at the time of the change. */
    actor: optionalText(),
    /** The API route or background job that made the change. */
    operation: optionalText(),
    /** IP address of the client. */
    address: optionalText(),
    /** Name of the table. */
    record: text().notNull(),
    record_id: text().notNull(),
    change: text().$type<AuditEntry['change']>().notNull(),
    before: jsonb().$type<AuditEntry['before']>(),
    after: jsonb().$type<AuditEntry['after']>(),
    organization_id: uuid(),
  },
  table => [
    index('audit_by_time').on(table.time),
    index('audit_by_record').on(table.record, table.record_id),
    check('audit_change_values', sql`${table.change} in ('create', 'update', 'delete')`),
  ],
)
