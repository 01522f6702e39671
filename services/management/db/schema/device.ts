import type { Source as EngineSource } from '@eyrie/contract'
import type {
  Device,
  DeviceStream,
  ManagedSource,
  Placement,
} from '@eyrie/contract/management/index'
import { sql } from 'drizzle-orm'
import {
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
import { createdAt, key, optionalText } from './columns.ts'
import { engine } from './engine.ts'
import { site } from './hierarchy.ts'

/** A camera or another device at a site. */
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
    /** A key that the client chooses, unique at the site. */
    device_identifier: text().notNull(),
    device_name: text().notNull(),
    device_type: text().notNull(),
    device_uuid: optionalText(),
    device_tags: jsonb().$type<Device['device_tags']>().notNull().default({}),
    device_value: optionalText(),
    /** Id of the last change to the device, for clients that track changes. */
    transaction_id: optionalText(),
    created_at: createdAt(),
  },
  table => [
    unique('device_identifier_in_site').on(table.site_id, table.device_identifier),
    unique('device_at_site').on(table.device_id, table.site_id),
    index('device_by_engine').on(table.engine_id),
  ],
)

/** A video stream of a device. Its `id` is unique within the device. */
export const deviceStream = pgTable(
  'device_stream',
  {
    device_id: uuid()
      .notNull()
      .references(() => device.device_id, { onDelete: 'cascade' }),
    id: integer().notNull(),
    /** Passwords and tokens in it are encrypted. */
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

/**
 * Settings that a client has made directly on the engine. Management does not change them. It
 * copies them to the new engine when it moves the source.
 */
export type SourceSettings = Partial<Pick<EngineSource, 'decoder' | 'recording'>>

/**
 * A stream of a device as the input of channels. `site_id` is a copy of the device's site, which a
 * foreign key keeps up to date, so that row-level security policies need no join.
 */
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
    /** A smaller stream of the same device, for the analysis and for small live views. */
    sub_stream_id: integer(),
    source_name: text().notNull(),
    /** Passwords and tokens in it are encrypted. */
    source_address: optionalText(),
    source_fps: doublePrecision(),
    source_type: optionalText(),
    /**
     * Objects of any form, returned as the client sent them. The shapes that the analysis uses are
     * in the table `static_content`.
     */
    static_content: jsonb().$type<ManagedSource['static_content']>().notNull().default([]),
    /**
     * The id that the engine has assigned to the source; null until the source was created there.
     */
    source_sid: integer(),
    source_settings: jsonb().$type<SourceSettings>().notNull().default({}),
    /**
     * Who chooses the engine of the source and its channels; null if the setting of the site
     * applies.
     */
    source_placement: text().$type<Placement>(),
    /**
     * CPU cores that the source and its channels needed on their previous engine. Used until the
     * new engine has measured them.
     */
    source_cores: doublePrecision(),
    created_at: createdAt(),
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
    foreignKey({
      name: 'source_sub_stream',
      columns: [table.device_id, table.sub_stream_id],
      foreignColumns: [deviceStream.device_id, deviceStream.id],
    }),
    unique('source_at_site').on(table.source_id, table.site_id),
    unique('source_on_engine').on(table.source_id, table.engine_id),
    check('source_placement_values', sql`${table.source_placement} in ('pinned', 'automatic')`),
    index('source_by_device').on(table.device_id),
    index('source_by_engine').on(table.engine_id),
    index('source_by_site').on(table.site_id),
  ],
)

/** A line, a zone or another shape in the picture of a source. The client chooses the `id`. */
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
    created_at: createdAt(),
  },
  table => [unique('static_content_id_of_source').on(table.source_id, table.id)],
)
