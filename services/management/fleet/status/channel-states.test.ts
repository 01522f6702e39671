import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import {
  sharedManagement,
  sharedRecords,
} from '../../../../test/fixtures/management/shared-management.ts'
import { channel, engineState } from '../../db/schema/index.ts'
import { storeChannelStates } from './channel-states.ts'

const { device } = managementRoutes
const management = sharedManagement()
const records = sharedRecords(management)

describe('channel state', () => {
  it('is active while the channel runs, even degraded, and inactive while its source is lost', async () => {
    const { engine_id: engineId, channel_id: channelId, device_id } = records
    const sid = 7
    await management.database.system('test', async tx => {
      await tx.update(channel).set({ channel_sid: sid }).where(eq(channel.channel_id, channelId))
      await tx.insert(engineState).values({ engine_id: engineId, engine_status: 1 })
    })
    let seq = 0
    const receiveState = async (data: { state: string; reason?: string; lost?: true }) => {
      seq += 1
      const message = {
        source: 1,
        pipeline: 1,
        pts: null,
        epoch: null,
        time: new Date().toISOString(),
      }
      await storeChannelStates(management.database, engineId, [
        { ...message, seq, channel: sid, kind: 'state', data },
      ])
      const {
        device_status: deviceStatus,
        device_state: deviceState,
        source_channels: sourceChannels,
      } = (await management.call(device.get, { device_id })).response
      return [sourceChannels[0]!.is_active, deviceStatus, deviceState]
    }

    expect(await receiveState({ state: 'starting' })).toEqual([false, 'offline', false])
    expect(await receiveState({ state: 'running' })).toEqual([true, 'online', true])
    expect(await receiveState({ state: 'degraded', reason: 'frames are dropped' })).toEqual([
      true,
      'online',
      true,
    ])
    expect(await receiveState({ state: 'degraded', reason: 'no route', lost: true })).toEqual([
      false,
      'offline',
      false,
    ])
    expect(await receiveState({ state: 'running' })).toEqual([true, 'online', true])
  })
})
