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

export const usecase = pgTable('usecase', {
  usecase_id: key().primaryKey(),
  usecase_key: text().notNull().unique(),
  usecase_name: text().notNull(),
  usecase_desc: optionalText(),
  usecase_icon: optionalText(),
  usecase_background_color: optionalText(),
  usecase_component_key: optionalText(),
  usecase_meta_key: text().array().notNull().default([]),
  /** How the keys of plugins are aggregated. */
  usecase_aggregations: jsonb().$type<Record<string, 'sum' | 'mean' | 'last'>>().notNull().default({}),
})

export const pipeline = pgTable(
  'pipeline',
  {
    pipeline_id: key().primaryKey(),
    engine_id: uuid()
      .notNull()
      .references(() => engine.engine_id),
    /** The owner, where organizations share an engine; null: visible to everyone who sees the engine. */
    organization_id: uuid().references(() => organization.organization_id),
    pipeline_name: text().notNull(),
    /** The key of a usecase. */
    pipeline_usecase: text()
      .notNull()
      .references(() => usecase.usecase_key),
    /** Chosen by the client, unique on the engine. */
    pipeline_reference_key: integer().notNull(),
    pipeline_elements: jsonb().$type<PipelineElements>().notNull(),
    /** The id on the engine; null until it is provisioned. */
    pipeline_sid: integer(),
    created_at: createdAt(),
  },
  table => [
    unique('pipeline_reference_key_on_engine').on(table.engine_id, table.pipeline_reference_key),
    unique('pipeline_on_engine').on(table.pipeline_id, table.engine_id),
  ],
)

/** A source analysed by a pipeline. The foreign keys ensure that both are on the channel's engine. */
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
    /** Seconds over which the statistics of alerts are aggregated. */
    channel_threshold_duration: integer().notNull().default(60),
    /** The id on the engine; null until it is provisioned. */
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

/** The state of a channel that its engine reported last. */
export const channelState = pgTable('channel_state', {
  channel_id: uuid()
    .primaryKey()
    .references(() => channel.channel_id, { onDelete: 'cascade' }),
  /** As reported last, even if the engine is disconnected; `lost`: the engine receives nothing from the source. */
  status: text().notNull().default('unknown'),
  is_heard: boolean().notNull().default(false),
  /** Why the channel is not running. */
  reason: optionalText(),
  /** The configuration of source and pipeline on the engine equals the stored one. */
  is_verified: boolean().notNull().default(false),
  heard_at: instant(),
})
