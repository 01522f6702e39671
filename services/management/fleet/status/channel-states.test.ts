import { once } from 'node:events'
import { createServer } from 'node:http'
import { createClient } from '@eyrie/client'
import { managementRoutes } from '@eyrie/contract/management/index'
import { createLog } from '@eyrie/kit'
import { eq } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  sharedManagement,
  sharedRecords,
} from '../../../../test/fixtures/management/shared-management.ts'
import { channel, channelState, engineState, provision } from '../../db/schema/index.ts'
import { storeOrRefreshChannelStates } from './channel-states.ts'

const { device } = managementRoutes
const management = sharedManagement()
const records = sharedRecords(management)

describe('channel state', () => {
  const sid = 7
  let url: string
  let seq = 0

  beforeAll(async () => {
    const { engine_id, channel_id, pipeline_id } = records
    await management.database.system('test', async tx => {
      await tx.update(channel).set({ channel_sid: sid }).where(eq(channel.channel_id, channel_id))
      await tx.insert(engineState).values({ engine_id, engine_status: 1 })
      const created = { kind: 'pipeline' as const, sid: 1, made_after: 0, applied: '' }
      await tx.insert(provision).values({ engine_id, record_id: pipeline_id, ...created })
    })
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ status: 'failed', reason: 'no \0 model', fps: 0, latency: 0 }))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
    return () => {
      server.close()
    }
  })

  /** Stores a state message of the engine. */
  function store(data: { state: string; reason?: string; lost?: true }, fields: object = {}) {
    seq += 1
    const message = {
      source: 1,
      pipeline: 1,
      pts: null,
      epoch: null,
      time: new Date().toISOString(),
    }
    const { engine_id } = records
    const { database } = management
    return storeOrRefreshChannelStates(
      { engine_id, engine: createClient({ url }), database, log: createLog('test', 'silent') },
      [{ ...message, seq, channel: sid, kind: 'state', data, ...fields }],
    )
  }

  const readState = async () => {
    const [state] = await management.database.system('test', tx =>
      tx.select().from(channelState).where(eq(channelState.channel_id, records.channel_id)),
    )
    return state
  }

  it('is active while the channel runs, even degraded, and inactive while its source is lost', async () => {
    const receiveState = async (...args: Parameters<typeof store>) => {
      await store(...args)
      const {
        device_status: deviceStatus,
        device_state: deviceState,
        source_channels: sourceChannels,
      } = (await management.call(device.get, { device_id: records.device_id })).response
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

  it('is stored without characters that Postgres rejects', async () => {
    expect(await store({ state: 'degraded', reason: 'a\0b' })).toBe(false)
    expect(await readState()).toMatchObject({ status: 'degraded', reason: 'a\ufffdb' })
  })

  it('is read from the engine if a reported one cannot be stored', async () => {
    await store({ state: 'running' })
    expect(await store({ state: 'running' }, { time: 'yesterday' })).toBe(true)
    expect(await readState()).toMatchObject({ status: 'failed', reason: 'no \ufffd model' })
  })
})
