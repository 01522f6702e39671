import type { PipelineElements } from '@eyrie/contract/management/index'
import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core'
import { createdAt, instant, key, optionalText } from './columns.ts'
import { source } from './device.ts'
import { engine } from './engine.ts'
import { organization } from './hierarchy.ts'

/** A kind of analysis, such as line crossing. Plugins add usecases of their own. */
export const usecase = pgTable('usecase', {
  usecase_id: key().primaryKey(),
  usecase_key: text().notNull().unique(),
  usecase_name: text().notNull(),
  usecase_desc: optionalText(),
  usecase_icon: optionalText(),
  usecase_background_color: optionalText(),
  usecase_component_key: optionalText(),
  usecase_meta_key: text().array().notNull().default([]),
  /** How the statistics of a plugin are aggregated, by key. */
  usecase_aggregations: jsonb().$type<Record<string, 'sum' | 'mean' | 'last'>>().notNull().default({}),
})

/**
 * Settings of a pipeline that only its engine has. Management does not control them, but copies them when it creates the pipeline on
 * another engine.
 */
export interface PipelineSettings {
  priority?: number
}

/** The elements that analyse the sources of an engine for a usecase. */
export const pipeline = pgTable(
  'pipeline',
  {
    pipeline_id: key().primaryKey(),
    engine_id: uuid()
      .notNull()
      .references(() => engine.engine_id),
    /** The owner. Null, and visible to superadmins only, until the first channel of a pipeline that has no other owner. */
    organization_id: uuid().references(() => organization.organization_id),
    pipeline_name: text().notNull(),
    pipeline_usecase: text()
      .notNull()
      .references(() => usecase.usecase_key),
    /** A number that the client chooses, unique on the engine. */
    pipeline_reference_key: integer().notNull(),
    pipeline_elements: jsonb().$type<PipelineElements>().notNull(),
    /**
     * The pipeline's id on its engine; null until the pipeline is provisioned. On other engines, to which its channels were moved, it has
     * other ids.
     */
    pipeline_sid: integer(),
    /** Settings that only the engine has, as last found there. */
    pipeline_settings: jsonb().$type<PipelineSettings>().notNull().default({}),
    created_at: createdAt(),
  },
  table => [unique('pipeline_reference_key_on_engine').on(table.engine_id, table.pipeline_reference_key)],
)

/**
 * A source that is analysed by a pipeline, on the engine of the source. The pipeline may belong to another engine if the source
 * was placed automatically.
 */
export const channel = pgTable(
  'channel',
  {
    channel_id: key().primaryKey(),
    source_id: uuid().notNull(),
    pipeline_id: uuid().notNull(),
    engine_id: uuid().notNull(),
    site_id: uuid().notNull(),
    usecase_id: uuid()
      .notNull()
      .references(() => usecase.usecase_id),
    channel_name: text().notNull(),
    channel_key: optionalText(),
    channel_favorite: boolean().notNull().default(false),
    is_storage: boolean().notNull().default(false),
    is_auto_recovery: boolean().notNull().default(false),
    /** Period, in seconds, over which statistics are aggregated for alerts. */
    channel_threshold_duration: integer().notNull().default(60),
    /** The channel's id on the engine; null until the channel is provisioned. */
    channel_sid: integer(),
    created_at: createdAt(),
  },
  table => [
    foreignKey({
      name: 'channel_source',
      columns: [table.source_id, table.engine_id],
      foreignColumns: [source.source_id, source.engine_id],
    }).onUpdate('cascade'),
    foreignKey({
      name: 'channel_site',
      columns: [table.source_id, table.site_id],
      foreignColumns: [source.source_id, source.site_id],
    }).onUpdate('cascade'),
    foreignKey({
      name: 'channel_pipeline',
      columns: [table.pipeline_id],
      foreignColumns: [pipeline.pipeline_id],
    }),
    unique('channel_of_source_and_pipeline').on(table.source_id, table.pipeline_id),
    check('channel_threshold_duration_range', sql`${table.channel_threshold_duration} between 1 and 86400`),
    index('channel_by_pipeline').on(table.pipeline_id),
    index('channel_by_site').on(table.site_id),
    index('channel_on_engine').on(table.engine_id, table.channel_sid),
    index('channel_by_usecase').on(table.usecase_id),
  ],
)

/**
 * A channel as it was on an engine before it was moved to another one. Messages that the earlier engine delivers later are stored
 * if they are older than the first ones of its successor.
 */
export const formerChannel = pgTable(
  'former_channel',
  {
    engine_id: uuid()
      .notNull()
      .references(() => engine.engine_id, { onDelete: 'cascade' }),
    /** The output log of the engine. Another log may use the same id for another channel. */
    log_id: text().notNull(),
    /** The channel's id on the engine. */
    channel_sid: integer().notNull(),
    channel_id: uuid()
      .notNull()
      .references(() => channel.channel_id, { onDelete: 'cascade' }),
    moved_at: instant().notNull(),
    /** The time of the first message from another engine; null before it has arrived. */
    succeeded_at: instant(),
  },
  table => [
    primaryKey({ columns: [table.engine_id, table.log_id, table.channel_sid] }),
    index('former_channel_by_channel').on(table.channel_id),
  ],
)

/** The state of a channel as its engine last reported it. */
export const channelState = pgTable('channel_state', {
  channel_id: uuid()
    .primaryKey()
    .references(() => channel.channel_id, { onDelete: 'cascade' }),
  /** The last status, even if the engine has disconnected since. `lost`: the engine receives no data from the source. */
  status: text().notNull().default('unknown'),
  /** Whether the status is current, because the engine is connected. */
  is_heard: boolean().notNull().default(false),
  /** Why the channel is not running. */
  reason: optionalText(),
  /** Whether the engine has the stored configuration of the source and the pipeline. */
  is_verified: boolean().notNull().default(false),
  /** When the engine last reported the status. */
  heard_at: instant(),
})
