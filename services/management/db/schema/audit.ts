import type { AuditEntry } from '@eyrie/contract/management/index'
import { sql } from 'drizzle-orm'
import { check, index, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { createdAt, key, optionalText } from './columns.ts'

/** Written by triggers only. */
export const audit = pgTable(
  'audit',
  {
    audit_id: key().primaryKey().default(sql`gen_random_uuid()`),
    time: createdAt(),
    /** Null: the appliance itself. No foreign key: entries are retained when the user is deleted. */
    user_id: uuid(),
    actor: optionalText(),
    operation: optionalText(),
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
