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
  usecase_aggregations: jsonb()
    .$type<Record<string, 'sum' | 'mean' | 'last'>>()
    .notNull()
    .default({}),
})

// An engine assigns an id of its own to each source, pipeline and channel. Columns whose names end
// in `_sid` contain these ids.

/**
 * Settings that a client has made directly on the engine. Management does not change them. It
 * copies them to the new engine when it moves the pipeline.
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
    /**
     * The owner. Null for a pipeline without an owner, which only superadmins see. Its first
     * channel makes the organization of the channel's site the owner.
     */
    organization_id: uuid().references(() => organization.organization_id),
    pipeline_name: text().notNull(),
    pipeline_usecase: text()
      .notNull()
      .references(() => usecase.usecase_key),
    /** A number that the client chooses, unique on the engine. */
    pipeline_reference_key: integer().notNull(),
    pipeline_elements: jsonb().$type<PipelineElements>().notNull(),
    /**
     * The pipeline's id on its own engine; null until it was created there. If channels of the
     * pipeline were moved to other engines, the table `provision` contains its ids on those.
     */
    pipeline_sid: integer(),
    pipeline_settings: jsonb().$type<PipelineSettings>().notNull().default({}),
    created_at: createdAt(),
  },
  table => [
    unique('pipeline_reference_key_on_engine').on(table.engine_id, table.pipeline_reference_key),
  ],
)

/**
 * A source that is analysed by a pipeline, on the engine of the source. The pipeline may belong to
 * another engine if the source was placed automatically.
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
    /** A name that the client chooses, for its own use. */
    channel_key: optionalText(),
    channel_favorite: boolean().notNull().default(false),
    /** Whether pictures are retained for as long as events, and not only for a day. */
    is_storage: boolean().notNull().default(false),
    /** Whether the channel is restarted when it fails. */
    is_auto_recovery: boolean().notNull().default(false),
    /** Period, in seconds, over which statistics are aggregated for alerts. */
    channel_threshold_duration: integer().notNull().default(60),
    /** The channel's id on the engine; null until the channel was created there. */
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
    check(
      'channel_threshold_duration_range',
      sql`${table.channel_threshold_duration} between 1 and 86400`,
    ),
    index('channel_by_pipeline').on(table.pipeline_id),
    index('channel_by_site').on(table.site_id),
    index('channel_on_engine').on(table.engine_id, table.channel_sid),
    index('channel_by_usecase').on(table.usecase_id),
  ],
)

/**
 * The id that a channel had on an engine before it was moved to another engine. The earlier engine
 * may still deliver messages of the channel. Messages that are older than the first message of the
 * new engine are stored, and later ones are ignored.
 */
export const formerChannel = pgTable(
  'former_channel',
  {
    engine_id: uuid()
      .notNull()
      .references(() => engine.engine_id, { onDelete: 'cascade' }),
    /** The output log of the engine. Another log may use the same id for another channel. */
    log_id: text().notNull(),
    /** The channel's id on the earlier engine. */
    channel_sid: integer().notNull(),
    channel_id: uuid()
      .notNull()
      .references(() => channel.channel_id, { onDelete: 'cascade' }),
    moved_at: instant().notNull(),
    /** The time of the first message from the new engine; null before it has arrived. */
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
  /** The last reported status. `lost`: the engine receives no data from the source. */
  status: text().notNull().default('unknown'),
  /** Whether the status is current. False while the engine is disconnected. */
  is_heard: boolean().notNull().default(false),
  /** Why the channel is not running. */
  reason: optionalText(),
  /** Whether the source and the pipeline are configured on the engine as they are stored here. */
  is_verified: boolean().notNull().default(false),
  /** When the engine last reported the status. */
  heard_at: instant(),
})
