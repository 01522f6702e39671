import { REDACTED } from '@eyrie/contract/address'
import {
  type Device,
  type DeviceStatus,
  type DeviceStream,
  ENGINE_STATUS,
  type SourceChannel,
} from '@eyrie/contract/management/index'
import { and, asc, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import {
  channel,
  channelState,
  device,
  deviceStream,
  engineState,
  source,
  usecase,
} from '../db/schema/index.ts'
import { isAnyOf } from '../db/text-array.ts'
import { sourceChannelColumns } from './source-channels.ts'

// The columns that the queries below select, each without the columns that a response must not contain.
const { created_at: _created, ...deviceColumns } = getTableColumns(device)
const { device_id: _device, ...streamColumns } = getTableColumns(deviceStream)
const { source_id, source_name, source_address, source_fps, source_type, source_sid } = source
const sourceColumns = { source_id, source_name, source_address, source_fps, source_type, source_sid }

/** Redacts the password in the query, so that the encrypted password is never read. */
const password = sql<string>`case ${deviceStream.password} when '' then '' else ${REDACTED} end`

/**
 * Selects devices, such as cameras, by id or by site. Without fields, it selects all devices that the caller may
 * see.
 */
export interface DeviceFilter {
  device_id?: string
  site_ids?: string[]
}

/** Works for sources too, because a source has the site of its device. */
const matchesFilter = (table: typeof device | typeof source, { device_id, site_ids }: DeviceFilter) =>
  and(
    device_id === undefined ? undefined : eq(table.device_id, device_id),
    site_ids === undefined ? undefined : isAnyOf(table.site_id, site_ids),
  )

// Both queries sort by site first, because an index has this order: Postgres then sorts the rows of each site separately.

/** Selects a row for each stream of a device. A device without streams has one row without a stream. */
const selectDevicesWithStreams = (tx: Transaction, filter: DeviceFilter) =>
  tx
    .select({ ...deviceColumns, engine_status: engineState.engine_status, ...streamColumns, password })
    .from(device)
    .leftJoin(engineState, eq(engineState.engine_id, device.engine_id))
    .leftJoin(deviceStream, eq(deviceStream.device_id, device.device_id))
    .where(matchesFilter(device, filter))
    .orderBy(asc(device.site_id), asc(device.device_name), asc(device.device_id), asc(deviceStream.id))

/** Selects a row for each channel of a source. A source without channels has one row without a channel. */
const selectSourcesWithChannels = (tx: Transaction, filter: DeviceFilter) =>
  tx
    .select({ ...sourceChannelColumns, ...sourceColumns })
    .from(source)
    .leftJoin(channel, eq(channel.source_id, source.source_id))
    .leftJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .leftJoin(channelState, eq(channelState.channel_id, channel.channel_id))
    .where(matchesFilter(source, filter))
    .orderBy(
      asc(source.site_id),
      asc(source.source_name),
      asc(source.source_id),
      asc(channel.channel_name),
      asc(channel.channel_id),
    )

/** Returns devices with their streams, sources and channels. Runs two concurrent queries for any number of devices. */
export async function findDevices(tx: Transaction, filter: DeviceFilter): Promise<Device[]> {
  // Request the larger result first: Postgres runs the second query while the first result is parsed.
  const [sourcesByDevice, deviceRows] = await Promise.all([
    findSourcesByDevice(tx, filter),
    selectDevicesWithStreams(tx, filter),
  ])

  const rowsByDevice = Map.groupBy(deviceRows, ({ device_id }) => device_id)
  return [...rowsByDevice.values()].map(rows => {
    const row = rows[0]!
    const device_source = sourcesByDevice.get(row.device_id) ?? []
    const source_channels = device_source.flatMap(source => source.source_channels)
    const device_status = toDeviceStatus(row.engine_status ?? ENGINE_STATUS.unknown, source_channels)
    return {
      ...row,
      device_streams: rows.filter(({ id }) => id !== null) as DeviceStream[],
      device_status,
      device_state: device_status === 'online',
      device_source,
      source_channels,
    }
  })
}

async function findSourcesByDevice(tx: Transaction, filter: DeviceFilter) {
  const rows = await selectSourcesWithChannels(tx, filter)
  const rowsBySource = Map.groupBy(rows, ({ source_id }) => source_id)
  const sources = [...rowsBySource.values()].map(sourceRows => ({
    ...sourceRows[0]!,
    source_channels: sourceRows.filter(({ channel_id }) => channel_id !== null) as SourceChannel[],
  }))
  return Map.groupBy(sources, ({ device_id }) => device_id)
}

const ENGINE_STATUS_NAMES = new Map<number, DeviceStatus>(
  Object.entries(ENGINE_STATUS).map(([name, status]) => [status, name as keyof typeof ENGINE_STATUS]),
)

/** Returns the status of the engine; if the engine is online, whether any channel of the device is active. */
function toDeviceStatus(engine_status: number, channels: SourceChannel[]): DeviceStatus {
  if (engine_status !== ENGINE_STATUS.online) return ENGINE_STATUS_NAMES.get(engine_status) ?? 'unknown'
  if (channels.length === 0) return 'unknown'
  return channels.some(({ is_active }) => is_active) ? 'online' : 'offline'
}
