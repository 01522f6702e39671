import type { Device, DeviceStream, ManagedSource, PipelineElements } from '@eyrie/contract/management/index'
import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  doublePrecision,
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
import { key, madeAt, optionalText } from './columns.ts'
import { engine } from './engine.ts'
import { organization, site } from './hierarchy.ts'

export const device = pgTable(
  'device',
  {
    device_id: key().primaryKey(),
    site_id: uuid()
      .notNull()
      .references(() => site.site_id),
    engine_id: uuid()
      .notNull()
      .references(() => engine.engine_id),
    device_identifier: text().notNull(),
    device_name: text().notNull(),
    device_type: text().notNull(),
    device_uuid: optionalText(),
    device_tags: jsonb().$type<Device['device_tags']>().notNull().default({}),
    device_value: optionalText(),
    /** Names the last change of the device, for those who follow it. */
    transaction_id: optionalText(),
    created_at: madeAt(),
  },
  table => [
    unique('device_identifier_in_site').on(table.site_id, table.device_identifier),
    unique('device_at_site').on(table.device_id, table.site_id),
    index('device_by_engine').on(table.engine_id),
  ],
)

/** Where a device's pictures come from; sources name a stream by its `id`. */
export const deviceStream = pgTable(
  'device_stream',
  {
    device_id: uuid()
      .notNull()
      .references(() => device.device_id, { onDelete: 'cascade' }),
    id: integer().notNull(),
    address: optionalText(),
    fps: jsonb().$type<DeviceStream['fps']>(),
    /** Encrypted. */
    password: optionalText(),
    port: integer(),
    protocol: optionalText(),
    resolution: jsonb().$type<DeviceStream['resolution']>(),
    type: optionalText(),
    username: optionalText(),
    uuid: optionalText(),
  },
  table => [primaryKey({ columns: [table.device_id, table.id] })],
)

/** `site_id` follows the device's, by the foreign key: rights ask for it in one step. */
export const source = pgTable(
  'source',
  {
    source_id: key().primaryKey(),
    device_id: uuid().notNull(),
    site_id: uuid().notNull(),
    engine_id: uuid()
      .notNull()
      .references(() => engine.engine_id),
    stream_id: integer().notNull(),
    source_name: text().notNull(),
    source_address: optionalText(),
    source_fps: doublePrecision(),
    source_type: optionalText(),
    /** Free-form objects, as they were given. */
    static_content: jsonb().$type<ManagedSource['static_content']>().notNull().default([]),
    /** The id on the engine; null until it is there. */
    source_sid: integer(),
    created_at: madeAt(),
  },
  table => [
    foreignKey({
      name: 'source_device',
      columns: [table.device_id, table.site_id],
      foreignColumns: [device.device_id, device.site_id],
    }).onUpdate('cascade'),
    foreignKey({
      name: 'source_stream',
      columns: [table.device_id, table.stream_id],
      foreignColumns: [deviceStream.device_id, deviceStream.id],
    }),
    unique('source_at_site').on(table.source_id, table.site_id),
    unique('source_on_engine').on(table.source_id, table.engine_id),
    index('source_by_device').on(table.device_id),
    index('source_by_engine').on(table.engine_id),
    index('source_by_site').on(table.site_id),
  ],
)

/** Lines, zones and whatever else is drawn over a source's picture; `id` is a number of the caller's. */
export const staticContent = pgTable(
  'static_content',
  {
    static_content_id: key().primaryKey(),
    source_id: uuid()
      .notNull()
      .references(() => source.source_id),
    id: integer().notNull(),
    static_content_name: text().notNull(),
    static_content_type: text().notNull(),
    static_content_data: jsonb().$type<Record<string, unknown>>().notNull(),
    created_at: madeAt(),
  },
  table => [unique('static_content_id_of_source').on(table.source_id, table.id)],
)

export const usecase = pgTable('usecase', {
  usecase_id: key().primaryKey(),
  usecase_key: text().notNull().unique(),
  usecase_name: text().notNull(),
  usecase_desc: optionalText(),
  usecase_icon: optionalText(),
  usecase_background_color: optionalText(),
  usecase_component_key: optionalText(),
  usecase_meta_key: text().array().notNull().default([]),
  /** Of the keys that a plugin brings. */
  usecase_aggregations: jsonb().$type<Record<string, 'sum' | 'mean' | 'last'>>().notNull().default({}),
})

export const pipeline = pgTable(
  'pipeline',
  {
    pipeline_id: key().primaryKey(),
    engine_id: uuid()
      .notNull()
      .references(() => engine.engine_id),
    /** Whose it is, where several share an engine; null: whoever sees the engine. */
    organization_id: uuid().references(() => organization.organization_id),
    pipeline_name: text().notNull(),
    /** Key of a usecase. */
    pipeline_usecase: text()
      .notNull()
      .references(() => usecase.usecase_key),
    /** A number of the caller's, unique on the engine. */
    pipeline_reference_key: integer().notNull(),
    pipeline_elements: jsonb().$type<PipelineElements>().notNull(),
    /** The id on the engine; null until it is there. */
    pipeline_sid: integer(),
    created_at: madeAt(),
  },
  table => [
    unique('pipeline_reference_key_on_engine').on(table.engine_id, table.pipeline_reference_key),
    unique('pipeline_on_engine').on(table.pipeline_id, table.engine_id),
  ],
)

/** A source analysed by a pipeline; both are on the channel's engine, by the foreign keys. */
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
    /** Seconds over which an alert's statistic is taken. */
    channel_threshold_duration: integer().notNull().default(60),
    /** The id on the engine; null until it is there. */
    channel_sid: integer(),
    created_at: madeAt(),
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
