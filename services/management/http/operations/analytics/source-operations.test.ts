import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { getCreatedId, sourceInput } from '../../../../../test/fixtures/management/hierarchy.ts'
import {
  sharedHierarchy,
  sharedManagement,
} from '../../../../../test/fixtures/management/shared-management.ts'
import * as tables from '../../../db/schema/index.ts'
import { readProvisioningState } from '../../../fleet/provisioning/provisioning-state.ts'
import { loadSecrets } from '../../../secrets/secrets.ts'

const { audit, device, site, source } = managementRoutes

describe('sources', () => {
  const management = sharedManagement()
  const hierarchy = sharedHierarchy(management, 'first')

  it('are returned with their fields', async () => {
    const { device_id: deviceId, engine_id: engineId, source_id, channel_id } = hierarchy
    const { response } = await management.call(source.get, { source_id })
    expect(response).toMatchObject({
      ...sourceInput(deviceId, engineId, 'Source first'),
      source_id,
    })
    expect(response.source_channels).toMatchObject([{ channel_id }])
    expect((await management.call(source.list, { device_id: deviceId })).response).toEqual([
      response,
    ])
  })

  it('must read a stream of their device', async () => {
    const input = {
      ...sourceInput(hierarchy.device_id, hierarchy.engine_id, 'no stream'),
      stream_id: 7,
    }
    const { status, message } = await management.call(source.create, input)
    expect([status, message]).toEqual([404, 'device_id, stream_id: there is no such record here'])
  })

  it('may name a sub stream of their device, which an update retains or removes', async () => {
    const { device_id: deviceId, engine_id: engineId } = hierarchy
    const device = (await management.call(managementRoutes.device.get, { device_id: deviceId }))
      .response
    const deviceStreams = [...device.device_streams, { id: 2, address: 'rtsp://127.0.0.1/sub' }]
    expect(
      (
        await management.send(managementRoutes.device.update, {
          ...device,
          device_streams: deviceStreams,
        })
      ).status,
    ).toBe(200)

    const required = sourceInput(deviceId, engineId, 'two streams')
    const rejected = await management.call(source.create, { ...required, sub_stream_id: 7 })
    expect([rejected.status, rejected.message]).toEqual([
      404,
      'device_id, sub_stream_id: there is no such record here',
    ])

    const created = await management.call(source.create, { ...required, sub_stream_id: 2 })
    const sourceId = getCreatedId(created)
    const read = async () =>
      (await management.call(source.get, { source_id: sourceId })).response.sub_stream_id
    expect(await read()).toBe(2)
    await management.send(source.update, { ...required, source_id: sourceId })
    expect(await read()).toBe(2)
    await management.send(source.update, { ...required, source_id: sourceId, sub_stream_id: null })
    expect(await read()).toBe(null)
    expect((await management.call(source.delete, { source_id: sourceId })).status).toBe(200)
  })

  it('are updated with the fields that were read, and cannot be deleted while a channel uses them', async () => {
    const { source_id } = hierarchy
    const { response } = await management.call(source.get, { source_id })
    expect((await management.send(source.update, { ...response, source_fps: 12.5 })).status).toBe(
      200,
    )
    expect((await management.call(source.get, { source_id })).response.source_fps).toBe(12.5)
    expect((await management.call(source.delete, { source_id })).status).toBe(409)
  })

  it('keep fields that an update omits', async () => {
    const required = sourceInput(hierarchy.device_id, hierarchy.engine_id, 'kept')
    const more = {
      source_address: 'rtsp://127.0.0.1/other',
      source_fps: 12.5,
      source_type: 'ip camera',
      static_content: [{ label: 'door' }],
    }
    const sourceId = getCreatedId(await management.call(source.create, { ...required, ...more }))
    const update = { ...required, source_id: sourceId, source_name: 'New' }
    expect((await management.call(source.update, update)).status).toBe(200)
    expect((await management.call(source.get, { source_id: sourceId })).response).toMatchObject({
      ...update,
      ...more,
    })
    expect((await management.call(source.delete, { source_id: sourceId })).status).toBe(200)
  })

  it('are found by site with the engine that reads them', async () => {
    const { site_id, engine_id, source_id } = hierarchy
    const { response } = await management.call(source.mapping, { is_default: 'false', site_id })
    expect(response).toMatchObject({
      is_default: false,
      site_id,
      engine_id,
      engine_address: '127.0.0.1',
    })
    expect(response.sources).toMatchObject([{ source_id }])
  })

  it('hide passwords in their address from clients, the audit log and the database', async () => {
    const { site_id, device_id, engine_id } = hierarchy
    const required = sourceInput(device_id, engine_id, 'with password')
    const address = 'rtsp://admin:Hunter2@10.0.0.9/main'
    const sourceId = getCreatedId(
      await management.call(source.create, { ...required, source_address: address }),
    )

    const { response } = await management.call(source.get, { source_id: sourceId })
    expect(response.source_address).toBe('rtsp://admin:***@10.0.0.9/main')
    expect((await management.send(source.update, response)).status).toBe(200)
    const path = { ...response, source_address: 'rtsp://admin:***@10.0.0.9/sub' }
    expect((await management.send(source.update, path)).status).toBe(200)
    const host = { ...response, source_address: 'rtsp://admin:***@attacker/main' }
    const { status, message } = await management.send(source.update, host)
    expect([status, message]).toEqual([
      400,
      'source_address: *** refers to a secret that is stored for another protocol, host or port: send the secret itself',
    ])

    const answers = [
      await management.call(source.list, { device_id }),
      await management.call(source.mapping, { is_default: 'false', site_id }),
      await management.call(device.view, { device_id }),
      await management.call(device.get, { device_id }),
      await management.call(device.list, { site_id }),
      await management.call(site.view, { site_id }),
      await management.call(audit.list, { record: 'source', record_id: sourceId }),
    ]
    for (const answer of answers) {
      expect(JSON.stringify(answer.response)).toContain('rtsp://admin:***@10.0.0.9/sub')
      expect(JSON.stringify(answer.response)).not.toMatch(/Hunter2|sealed1/)
    }

    const [row] = await management.database.system('test', tx =>
      tx.select().from(tables.source).where(eq(tables.source.source_id, sourceId)),
    )
    expect(row?.source_address).toMatch(/^rtsp:\/\/admin:sealed1:[\w-]+@10\.0\.0\.9\/sub$/)
    const { stored } = await management.database.system('test', tx =>
      readProvisioningState(tx, engine_id, loadSecrets(management.data)),
    )
    expect(stored.sources).toContainEqual(
      expect.objectContaining({ source_address: 'rtsp://admin:Hunter2@10.0.0.9/sub' }),
    )
    expect((await management.call(source.delete, { source_id: sourceId })).status).toBe(200)
  })
})
