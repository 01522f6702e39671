import type { Catalog } from '@eyrie/contract'
import type { EngineRetry } from '@eyrie/contract/management/index'
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { createdAt, instant, key, optionalText } from './columns.ts'
import { organization, site } from './hierarchy.ts'

/** The NOTIFY channel on which triggers publish the ids of engines whose stored configuration has changed. */
export const FLEET_CHANNEL = 'eyrie_fleet'

/** An engine as it was registered. `engine_state` holds what it reports about itself. */
export const engine = pgTable(
  'engine',
  {
    engine_id: key().primaryKey(),
    /** The owner; null: the owner of the installation. */
    organization_id: uuid().references(() => organization.organization_id),
    engine_name: text().notNull(),
    engine_address: text().notNull(),
    engine_port: integer().notNull(),
    engine_is_secure: boolean().notNull(),
    /** The engine's bearer token, encrypted. */
    engine_key: optionalText(),
    engine_timeout: text().notNull(),
    engine_retry: jsonb().$type<EngineRetry>().notNull(),
    engine_created_at: createdAt(),
    engine_updated_at: createdAt(),
  },
  table => [check('engine_port_range', sql`${table.engine_port} between 1 and 65535`)],
)

/** The sites that an engine serves. */
export const engineSite = pgTable(
  'engine_site',
  {
    engine_id: uuid()
      .notNull()
      .references(() => engine.engine_id, { onDelete: 'cascade' }),
    site_id: uuid()
      .notNull()
      .references(() => site.site_id),
  },
  table => [
    primaryKey({ columns: [table.engine_id, table.site_id] }),
    index('engine_by_site').on(table.site_id),
  ],
)

/** The state that an engine reported last, and the position in its output log. */
export const engineState = pgTable(
  'engine_state',
  {
    engine_id: uuid()
      .primaryKey()
      .references(() => engine.engine_id, { onDelete: 'cascade' }),
    /** 0 unknown, 1 online, 2 offline, 3 error. */
    engine_status: smallint().notNull().default(0),
    engine_version: optionalText(),
    engine_api_version: optionalText(),
    engine_host_name: optionalText(),
    /** SHA-256 of the engine's configuration when it was read last. */
    engine_hash: optionalText(),
    /** The paths of its API and their methods. */
    engine_routes: jsonb().$type<Record<string, string[]>>().notNull().default({}),
    /** The elements and models that its pipelines can use. */
    engine_catalog: jsonb().$type<Catalog>().notNull().default({}),
    /** Whether a license is activated. */
    engine_is_active: boolean().notNull().default(false),
    engine_uptime: doublePrecision().notNull().default(0),
    /** Why the status is 2 or 3. */
    reason: optionalText(),
    seen_at: instant(),
    /** The engine's output log at the last provisioning. A different log means that the engine lost its configuration. */
    provisioned_log_id: text(),
    /** The output log that `seq` is a position in; a new log starts over. */
    log_id: text(),
    seq: bigint({ mode: 'number' }).notNull().default(0),
  },
  table => [check('engine_status_values', sql`${table.engine_status} between 0 and 3`)],
)

/** The load of an engine's machine over time, in percent, bytes and bytes. */
export const engineStatistics = pgTable(
  'engine_statistics',
  {
    engine_id: uuid()
      .notNull()
      .references(() => engine.engine_id, { onDelete: 'cascade' }),
    time: instant().notNull(),
    cpu: doublePrecision().notNull(),
    mem_physical: doublePrecision().notNull(),
    mem_virtual: doublePrecision().notNull(),
  },
  table => [primaryKey({ columns: [table.engine_id, table.time] })],
)
