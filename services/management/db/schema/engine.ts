import type { Catalog, EngineCondition } from '@eyrie/contract'
import type { Drift, EngineRetry } from '@eyrie/contract/management/index'
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

/**
 * The NOTIFY channel on which triggers publish the id of an engine when its stored
 * configuration changes.
 */
export const FLEET_CHANNEL = 'eyrie_fleet'

/**
 * A registered engine, with its address and credentials. Table `engine_state` contains the state
 * that the engine reports.
 */
export const engine = pgTable(
  'engine',
  {
    engine_id: key().primaryKey(),
    /** The owner; null if the engine belongs to the owner of the installation. */
    organization_id: uuid().references(() => organization.organization_id),
    engine_name: text().notNull(),
    engine_address: text().notNull(),
    engine_port: integer().notNull(),
    engine_is_secure: boolean().notNull(),
    /** The encrypted bearer token of the engine's API. */
    engine_key: optionalText(),
    /**
     * SHA-256 of the secret by which an engine that has registered itself is recognized.
     * Null for other engines.
     */
    identity_hash: text().unique(),
    engine_timeout: text().notNull(),
    engine_retry: jsonb().$type<EngineRetry>().notNull(),
    engine_created_at: createdAt(),
    engine_updated_at: instant().notNull().defaultNow(),
  },
  table => [check('engine_port_range', sql`${table.engine_port} between 1 and 65535`)],
)

/** A site that an engine serves. */
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

/**
 * What an engine has reported about its clock, disk, license, load and sources. System alerts
 * and placement use it.
 */
export interface ReportedCondition {
  condition: EngineCondition
  /** Epoch ms: when the report was requested. */
  requestedMs: number
  /** Epoch ms: when the report was received. */
  receivedMs: number
  /**
   * Whether all events of the engine are lost, because none can be stored. Undefined while
   * management does not know that.
   */
  areEventsLost?: boolean | undefined
}

/**
 * The state that an engine last reported, and the position up to which its output log was read. The
 * output log contains the messages of the engine's channels, numbered by `seq`; an engine that has
 * lost its data starts a new log.
 */
export const engineState = pgTable(
  'engine_state',
  {
    engine_id: uuid()
      .primaryKey()
      .references(() => engine.engine_id, { onDelete: 'cascade' }),
    /** Values of `ENGINE_STATUS`: 0 unknown, 1 online, 2 offline, 3 error. */
    engine_status: smallint().notNull().default(0),
    engine_version: optionalText(),
    engine_api_version: optionalText(),
    engine_host_name: optionalText(),
    /** SHA-256 of the configuration that was last read from the engine. */
    engine_hash: optionalText(),
    /** The methods of each path of the engine's API. */
    engine_routes: jsonb().$type<Record<string, string[]>>().notNull().default({}),
    /** The elements and models that pipelines on the engine can use. */
    engine_catalog: jsonb().$type<Catalog>().notNull().default({}),
    /** Whether the engine's license is activated. */
    engine_is_active: boolean().notNull().default(false),
    /** Seconds. */
    engine_uptime: doublePrecision().notNull().default(0),
    /** Why the engine is offline or in error. */
    reason: optionalText(),
    /** When the engine last answered. */
    seen_at: instant(),
    /**
     * When the management service that follows the engine lost its connection, by the clock of the
     * database. Null while connected.
     */
    unusable_since: instant(),
    /** The condition that the engine last reported. */
    condition: jsonb().$type<ReportedCondition>(),
    /** How the engine differed from its stored configuration at `drift_checked_at`. */
    drift: jsonb().$type<Drift[]>().notNull().default([]),
    drift_checked_at: instant(),
    /**
     * The output log when the configuration was last applied. An engine with another log has
     * lost its configuration.
     */
    provisioned_log_id: text(),
    /** The output log that was last read. */
    log_id: text(),
    /** Number of the last message that was read from the log. */
    seq: bigint({ mode: 'number' }).notNull().default(0),
  },
  table => [check('engine_status_values', sql`${table.engine_status} between 0 and 3`)],
)

/** A sample of the load of an engine's machine. */
export const engineStatistics = pgTable(
  'engine_statistics',
  {
    engine_id: uuid()
      .notNull()
      .references(() => engine.engine_id, { onDelete: 'cascade' }),
    time: instant().notNull(),
    /** Percent. */
    cpu: doublePrecision().notNull(),
    /** Bytes. */
    mem_physical: doublePrecision().notNull(),
    /** Bytes. */
    mem_virtual: doublePrecision().notNull(),
  },
  table => [primaryKey({ columns: [table.engine_id, table.time] })],
)
