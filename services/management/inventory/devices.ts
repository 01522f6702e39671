import { REDACTED } from '@eyrie/contract/address'
import {
  type Device,
  type DeviceStatus,
  type DeviceStream,
  ENGINE_STATUS,
  type SourceChannel,
} from '@eyrie/contract/management/index'
import { asc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { definePreparedQuery } from '../db/prepared-query.ts'
import {
  channel,
  channelState,
  device,
  deviceStream,
  engineState,
  source,
  usecase,
} from '../db/schema/index.ts'
import { formatTextArray, isInArray } from '../db/text-array.ts'
import { sourceChannelColumns } from './source-channels.ts'
import { redactStoredAddress } from './stored-addresses.ts'

// The columns that a response contains.
const { created_at: _created, ...deviceColumns } = getTableColumns(device)
const { device_id: _device, ...streamColumns } = getTableColumns(deviceStream)
const { source_id, source_name, source_address, source_fps, source_type, source_sid } = source
const sourceColumns = {
  source_id,
  source_name,
  source_address,
  source_fps,
  source_type,
  source_sid,
}

/**
 * Selects a placeholder instead of the password of a stream, so that the encrypted password never
 * leaves the database. A stream without a password has no placeholder.
 */
const redactedPassword = sql<string>`case ${deviceStream.password} when '' then '' else ${REDACTED} end`

/**
 * Creates a condition on devices or on sources. Both tables have the columns
 * `device_id` and `site_id`.
 */
type Condition = (table: typeof device | typeof source) => SQL

// Both queries sort by site first. Postgres reads the rows of a site together from an index, and is
// faster if it has to sort only the rows of one site at a time.

/**
 * Selects a row for each stream of a device. A device without streams has one row without a stream.
 */
const selectDevicesWithStreams = (tx: Transaction, condition: Condition) =>
  tx
    .select({
      ...deviceColumns,
      engine_status: engineState.engine_status,
      ...streamColumns,
      password: redactedPassword,
    })
    .from(device)
    .leftJoin(engineState, eq(engineState.engine_id, device.engine_id))
    .leftJoin(deviceStream, eq(deviceStream.device_id, device.device_id))
    .where(condition(device))
    .orderBy(
      asc(device.site_id),
      asc(device.device_name),
      asc(device.device_id),
      asc(deviceStream.id),
    )

/**
 * Selects a row for each channel of a source. A source without channels has one row without a
 * channel.
 */
const selectSourcesWithChannels = (tx: Transaction, condition: Condition) =>
  tx
    .select({ ...sourceChannelColumns, ...sourceColumns })
    .from(source)
    .leftJoin(channel, eq(channel.source_id, source.source_id))
    .leftJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .leftJoin(channelState, eq(channelState.channel_id, channel.channel_id))
    .where(condition(source))
    .orderBy(
      asc(source.site_id),
      asc(source.source_name),
      asc(source.source_id),
      asc(channel.channel_name),
      asc(channel.channel_id),
    )

/**
 * Returns a function that finds the devices that satisfy a condition. The `values` of a call
 * replace the placeholders in the condition.
 */
function defineSearch(condition: Condition) {
  const findSources = definePreparedQuery(tx => selectSourcesWithChannels(tx, condition))
  const findDevicesWithStreams = definePreparedQuery(tx => selectDevicesWithStreams(tx, condition))

  return async (tx: Transaction, values: Record<string, string>): Promise<Device[]> => {
    // The query with the larger result comes first: this process parses the result while Postgres
    // runs the other query.
    const [sourceRows, deviceRows] = await Promise.all([
      findSources(tx, values),
      findDevicesWithStreams(tx, values),
    ])
    return toDevices(deviceRows, groupSourcesByDevice(sourceRows))
  }
}

const searchById = defineSearch(table => eq(table.device_id, sql.placeholder('device_id')))
const searchBySites = defineSearch(table => isInArray(table.site_id, sql.placeholder('site_ids')))

/**
 * Returns a device, such as a camera, with its streams, sources and channels, or undefined if the
 * caller may not see it.
 */
export async function findDevice(tx: Transaction, deviceId: string): Promise<Device | undefined> {
  const [found] = await searchById(tx, { device_id: deviceId })
  return found
}

/**
 * Returns the devices of sites with their streams, sources and channels. Runs two queries for
 * any number of sites.
 */
export const findDevicesOfSites = (
  tx: Transaction,
  siteIds: readonly string[],
): Promise<Device[]> => searchBySites(tx, { site_ids: formatTextArray(siteIds) })

type DeviceRow = Awaited<ReturnType<typeof selectDevicesWithStreams>>[number]
type SourceRow = Awaited<ReturnType<typeof selectSourcesWithChannels>>[number]
type SourcesByDevice = ReturnType<typeof groupSourcesByDevice>

/**
 * Combines the rows of each device. A device has a row for each stream, or a single row with the
 * stream `id` null.
 */
function toDevices(rows: DeviceRow[], sourcesByDevice: SourcesByDevice): Device[] {
  const rowsByDevice = Map.groupBy(rows, ({ device_id }) => device_id)
  return [...rowsByDevice.values()].map(deviceRows => {
    // A group has at least one row. All its rows have the same columns of the device.
    const row = deviceRows[0]!
    const sources = sourcesByDevice.get(row.device_id) ?? []
    const channels = sources.flatMap(({ source_channels }) => source_channels)
    const status = toDeviceStatus(row.engine_status ?? ENGINE_STATUS.unknown, channels)
    return {
      ...row,
      device_streams: toStreams(deviceRows),
      device_status: status,
      device_state: status === 'online',
      device_source: sources,
      source_channels: channels,
    }
  })
}

/** Returns the streams in the rows of a device, without the passwords and tokens in addresses. */
function toStreams(deviceRows: DeviceRow[]): DeviceStream[] {
  const streams = deviceRows.filter(({ id }) => id !== null) as DeviceStream[]
  return streams.map(stream => ({ ...stream, address: redactStoredAddress(stream.address) }))
}

/**
 * Combines the rows of each source. A source has a row for each channel, or a single row with the
 * `channel_id` null. Returns the sources by device id.
 */
function groupSourcesByDevice(rows: SourceRow[]) {
  const rowsBySource = Map.groupBy(rows, ({ source_id }) => source_id)
  const sources = [...rowsBySource.values()].map(sourceRows => ({
    ...sourceRows[0]!,
    source_address: redactStoredAddress(sourceRows[0]!.source_address),
    source_channels: sourceRows.filter(({ channel_id }) => channel_id !== null) as SourceChannel[],
  }))
  return Map.groupBy(sources, ({ device_id }) => device_id)
}

/** The name of each value of `ENGINE_STATUS`. */
const ENGINE_STATUS_NAMES = new Map<number, DeviceStatus>(
  Object.entries(ENGINE_STATUS).map(([name, status]) => [
    status,
    name as keyof typeof ENGINE_STATUS,
  ]),
)

/**
 * Returns the status of a device. If its engine is online, the device is online while one of its
 * channels is active. Otherwise the device has the status of the engine.
 */
function toDeviceStatus(engineStatus: number, channels: SourceChannel[]): DeviceStatus {
  if (engineStatus !== ENGINE_STATUS.online) {
    return ENGINE_STATUS_NAMES.get(engineStatus) ?? 'unknown'
  }
  if (channels.length === 0) return 'unknown'
  return channels.some(({ is_active }) => is_active) ? 'online' : 'offline'
}
