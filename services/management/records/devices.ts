import {
  type Device,
  type DeviceStatus,
  ENGINE_STATUS,
  HIDDEN,
  type SourceChannel,
} from '@eyrie/contract/management/index'
import { asc, eq, getTableColumns, sql } from 'drizzle-orm'
import { asked, type Match } from '../db/asked.ts'
import type { Transaction } from '../db/open.ts'
import { device, deviceStream, engineState, source } from '../db/schema/index.ts'
import { sourceChannels } from './source-channels.ts'

const statusOfEngine = new Map<number, DeviceStatus>(
  Object.entries(ENGINE_STATUS).map(([name, status]) => [status, name as keyof typeof ENGINE_STATUS]),
)

const { created_at: _made, ...ofDevice } = getTableColumns(device)
const { source_id, device_id, source_name, source_address, source_fps, source_type, source_sid } = source
const ofSource = { source_id, device_id, source_name, source_address, source_fps, source_type, source_sid }

const rowsOf = asked(device, (tx, condition) =>
  tx
    .select({ ...ofDevice, engine_status: engineState.engine_status })
    .from(device)
    .leftJoin(engineState, eq(engineState.engine_id, device.engine_id))
    .where(condition)
    .orderBy(asc(device.device_name), asc(device.device_id)),
)

/** It stays in the database, sealed as it is. */
const shownPassword = sql<string>`case ${deviceStream.password} when '' then '' else ${HIDDEN} end`

const streamsOf = asked(device, (tx, condition) =>
  tx
    .select({ ...getTableColumns(deviceStream), password: shownPassword })
    .from(deviceStream)
    .innerJoin(device, eq(device.device_id, deviceStream.device_id))
    .where(condition)
    .orderBy(asc(deviceStream.id)),
)

const sourcesOf = asked(source, (tx, condition) =>
  tx.select(ofSource).from(source).where(condition).orderBy(asc(source.source_name), asc(source.source_id)),
)

/** Some devices, with all that belongs to them: four queries for however many, asked at once. */
export async function devices(
  tx: Transaction,
  match: Match<Pick<typeof device, 'device_id' | 'site_id'>>,
): Promise<Device[]> {
  // What is most comes first: while its rows are made, Postgres looks for the others.
  const [channels, found, streams, sources] = await Promise.all([
    sourceChannels(tx, match),
    rowsOf(tx, match),
    streamsOf(tx, match),
    sourcesOf(tx, match),
  ])
  const streamsById = Map.groupBy(streams, ({ device_id }) => device_id)
  const sourcesById = Map.groupBy(sources, ({ device_id }) => device_id)
  const channelsById = Map.groupBy(channels, ({ source_id }) => source_id)

  return found.map(row => {
    const device_source = (sourcesById.get(row.device_id) ?? []).map(source => ({
      ...source,
      source_channels: channelsById.get(source.source_id) ?? [],
    }))
    const source_channels = device_source.flatMap(each => each.source_channels)
    const device_status = statusOf(row.engine_status ?? ENGINE_STATUS.unknown, source_channels)
    return {
      ...row,
      device_streams: streamsById.get(row.device_id) ?? [],
      device_status,
      device_state: device_status === 'online',
      device_source,
      source_channels,
    }
  })
}

/** What is analysed of a device, as its engine last told. */
function statusOf(engine_status: number, channels: SourceChannel[]): DeviceStatus {
  if (engine_status !== ENGINE_STATUS.online) return statusOfEngine.get(engine_status) ?? 'unknown'
  if (channels.length === 0) return 'unknown'
  return channels.some(({ is_active }) => is_active) ? 'online' : 'offline'
}
