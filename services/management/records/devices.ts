import { type Device, type DeviceStatus, HIDDEN, type SourceChannel } from '@eyrie/contract/management/index'
import { asc, eq, getTableColumns, type SQL } from 'drizzle-orm'
import { among } from '../db/among.ts'
import type { Transaction } from '../db/open.ts'
import { channel, device, deviceStream, engineState, source } from '../db/schema/index.ts'
import { sourceChannels } from './source-channels.ts'

const ONLINE = 1
const statusOfEngine: Record<number, DeviceStatus> = { 0: 'unknown', 2: 'offline', 3: 'error' }

/** The devices that meet a condition on their columns, with all that belongs to them: four queries for however many. */
export async function devices(tx: Transaction, condition: SQL | undefined): Promise<Device[]> {
  const found = await tx
    .select({ ...getTableColumns(device), engine_status: engineState.engine_status })
    .from(device)
    .leftJoin(engineState, eq(engineState.engine_id, device.engine_id))
    .where(condition)
    .orderBy(asc(device.device_name), asc(device.device_id))
  const ids = found.map(({ device_id }) => device_id)
  const [streams, sources] = await Promise.all([streamsOf(tx, ids), sourcesOf(tx, ids)])

  return found.map(({ engine_status, ...row }) => {
    const device_source = sources.get(row.device_id) ?? []
    const source_channels = device_source.flatMap(each => each.source_channels)
    const device_status = statusOf(engine_status ?? 0, source_channels)
    return {
      ...row,
      device_streams: streams.get(row.device_id) ?? [],
      device_status,
      device_state: device_status === 'online',
      device_source,
      source_channels,
    }
  })
}

/** What is analysed of a device, as its engine last told. */
function statusOf(engine_status: number, channels: SourceChannel[]): DeviceStatus {
  if (engine_status !== ONLINE) return statusOfEngine[engine_status] ?? 'unknown'
  if (channels.length === 0) return 'unknown'
  return channels.some(({ is_active }) => is_active) ? 'online' : 'offline'
}

async function streamsOf(tx: Transaction, device_ids: string[]) {
  const rows = await tx
    .select()
    .from(deviceStream)
    .where(among(deviceStream.device_id, device_ids))
    .orderBy(asc(deviceStream.id))
  const shown = rows.map(row => ({ ...row, password: row.password && HIDDEN }))
  return Map.groupBy(shown, ({ device_id }) => device_id)
}

async function sourcesOf(tx: Transaction, device_ids: string[]) {
  const rows = await tx
    .select()
    .from(source)
    .where(among(source.device_id, device_ids))
    .orderBy(asc(source.source_name), asc(source.source_id))
  const channels = Map.groupBy(
    await sourceChannels(
      tx,
      among(
        channel.source_id,
        rows.map(({ source_id }) => source_id),
      ),
    ),
    ({ source_id }) => source_id,
  )
  const whole = rows.map(row => ({ ...row, source_channels: channels.get(row.source_id) ?? [] }))
  return Map.groupBy(whole, ({ device_id }) => device_id)
}
