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
import { ofSourceChannel } from './source-channels.ts'

const statusOfEngine = new Map<number, DeviceStatus>(
  Object.entries(ENGINE_STATUS).map(([name, status]) => [status, name as keyof typeof ENGINE_STATUS]),
)

const { created_at: _made, ...ofDevice } = getTableColumns(device)
const { device_id: _device, ...ofStream } = getTableColumns(deviceStream)
const { source_id, source_name, source_address, source_fps, source_type, source_sid } = source
const ofSource = { source_id, source_name, source_address, source_fps, source_type, source_sid }

/** It stays in the database, sealed as it is. */
const password = sql<string>`case ${deviceStream.password} when '' then '' else ${REDACTED} end`

export interface DeviceFilter {
  device_id?: string
  site_ids?: string[]
}

/** Sources carry the site of their device. */
const matches = (table: typeof device | typeof source, { device_id, site_ids }: DeviceFilter) =>
  and(
    device_id === undefined ? undefined : eq(table.device_id, device_id),
    site_ids === undefined ? undefined : isAnyOf(table.site_id, site_ids),
  )

// Both queries sort by site first, in the order of an index: Postgres then sorts the rows of one site at a time.

/** Returns one row per stream, and one for each device without streams. */
const devicesWithStreams = (tx: Transaction, filter: DeviceFilter) =>
  tx
    .select({ ...ofDevice, engine_status: engineState.engine_status, ...ofStream, password })
    .from(device)
    .leftJoin(engineState, eq(engineState.engine_id, device.engine_id))
    .leftJoin(deviceStream, eq(deviceStream.device_id, device.device_id))
    .where(matches(device, filter))
    .orderBy(asc(device.site_id), asc(device.device_name), asc(device.device_id), asc(deviceStream.id))
    .prepare('devices_with_streams')
    .execute()

/** Returns one row per channel, and one for each source without channels. */
const sourcesWithChannels = (tx: Transaction, filter: DeviceFilter) =>
  tx
    .select({ ...ofSourceChannel, ...ofSource })
    .from(source)
    .leftJoin(channel, eq(channel.source_id, source.source_id))
    .leftJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .leftJoin(channelState, eq(channelState.channel_id, channel.channel_id))
    .where(matches(source, filter))
    .orderBy(
      asc(source.site_id),
      asc(source.source_name),
      asc(source.source_id),
      asc(channel.channel_name),
      asc(channel.channel_id),
    )
    .prepare('sources_with_channels')
    .execute()

/** Returns devices with their streams, sources and channels, by two queries for any number of devices. */
export async function devices(tx: Transaction, filter: DeviceFilter): Promise<Device[]> {
  const [sourcesById, ofDevices] = await Promise.all([
    sourcesByDevice(tx, filter),
    devicesWithStreams(tx, filter),
  ])

  return [...Map.groupBy(ofDevices, ({ device_id }) => device_id).values()].map(rows => {
    const row = rows[0]!
    const device_source = sourcesById.get(row.device_id) ?? []
    const source_channels = device_source.flatMap(each => each.source_channels)
    const device_status = statusOf(row.engine_status ?? ENGINE_STATUS.unknown, source_channels)
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

async function sourcesByDevice(tx: Transaction, filter: DeviceFilter) {
  const rows = await sourcesWithChannels(tx, filter)
  const sources = [...Map.groupBy(rows, ({ source_id }) => source_id).values()].map(ofOne => ({
    ...ofOne[0]!,
    source_channels: ofOne.filter(({ channel_id }) => channel_id !== null) as SourceChannel[],
  }))
  return Map.groupBy(sources, ({ device_id }) => device_id)
}

/** What is analysed of a device, as its engine last told. */
function statusOf(engine_status: number, channels: SourceChannel[]): DeviceStatus {
  if (engine_status !== ENGINE_STATUS.online) return statusOfEngine.get(engine_status) ?? 'unknown'
  if (channels.length === 0) return 'unknown'
  return channels.some(({ is_active }) => is_active) ? 'online' : 'offline'
}
