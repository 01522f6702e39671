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
    /** The pipeline's id on the engine; null until the pipeline is provisioned. */
    pipeline_sid: integer(),
    created_at: createdAt(),
  },
  table => [
    unique('pipeline_reference_key_on_engine').on(table.engine_id, table.pipeline_reference_key),
    unique('pipeline_on_engine').on(table.pipeline_id, table.engine_id),
  ],
)

/** A source that is analysed by a pipeline. The foreign keys ensure that source and pipeline are on the channel's engine. */
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
    }),
    foreignKey({
      name: 'channel_site',
      columns: [table.source_id, table.site_id],
      foreignColumns: [source.source_id, source.site_id],
    }).onUpdate('cascade'),
    foreignKey({
      name: 'channel_pipeline',
      columns: [table.pipeline_id, table.engine_id],
      foreignColumns: [pipeline.pipeline_id, pipeline.engine_id],
    }),
    unique('channel_of_source_and_pipeline').on(table.source_id, table.pipeline_id),
    check('channel_threshold_duration_range', sql`${table.channel_threshold_duration} between 1 and 86400`),
    index('channel_by_pipeline').on(table.pipeline_id),
    index('channel_by_site').on(table.site_id),
    index('channel_on_engine').on(table.engine_id, table.channel_sid),
    index('channel_by_usecase').on(table.usecase_id),
  ],
)

/** The state of a channel as its engine last reported it. */
export const channelState = pgTable('channel_state', {
  channel_id: uuid()
    .primaryKey()
    .references(() => channel.channel_id, { onDelete: 'cascade' }),
  /** Remains unchanged when the engine disconnects. `lost`: the engine receives no data from the source. */
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
