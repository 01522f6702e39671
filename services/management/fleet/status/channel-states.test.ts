import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { sharedManagement, sharedRecords } from '../../../../test/fixtures/shared-management.ts'
import { channel, engineState } from '../../db/schema/index.ts'
import { hearStates } from './channel-states.ts'

const { device } = managementRoutes
const its = sharedManagement()
const records = sharedRecords(its)

it('a channel is active while it runs, if badly, and not while nothing of its source comes', async () => {
  const { engine_id, channel_id, device_id } = records
  const sid = 7
  await its.database.system('test', async tx => {
    await tx.update(channel).set({ channel_sid: sid }).where(eq(channel.channel_id, channel_id))
    await tx.insert(engineState).values({ engine_id, engine_status: 1 })
  })
  let seq = 0
  const hear = async (data: { state: string; reason?: string; lost?: true }) => {
    seq += 1
    const nowhere = { source: 1, pipeline: 1, pts: null, epoch: null, time: new Date().toISOString() }
    await hearStates(its.database, engine_id, [{ ...nowhere, seq, channel: sid, kind: 'state', data }])
    const { device_status, device_state, source_channels } = (await its.call(device.id, { device_id }))
      .response
    return [source_channels[0]!.is_active, device_status, device_state]
  }

  expect(await hear({ state: 'starting' })).toEqual([false, 'offline', false])
  expect(await hear({ state: 'running' })).toEqual([true, 'online', true])
  expect(await hear({ state: 'degraded', reason: 'frames are dropped' })).toEqual([true, 'online', true])
  expect(await hear({ state: 'degraded', reason: 'no route', lost: true })).toEqual([false, 'offline', false])
  expect(await hear({ state: 'running' })).toEqual([true, 'online', true])
})
