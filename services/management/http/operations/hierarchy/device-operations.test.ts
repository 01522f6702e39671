import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { deviceInput } from '../../../../../test/fixtures/management/hierarchy.ts'
import {
  sharedHierarchy,
  sharedManagement,
} from '../../../../../test/fixtures/management/shared-management.ts'
import { deviceStream } from '../../../db/schema/index.ts'
import { decryptAddress } from '../../../inventory/stored-addresses.ts'
import { loadSecrets } from '../../../secrets/secrets.ts'

const { audit, device, site } = managementRoutes

describe('devices', () => {
  const management = sharedManagement()
  const hierarchy = sharedHierarchy(management, 'first')

  it('are returned with their fields, but never with passwords', async () => {
    const { site_id: siteId, engine_id: engineId, device_id, source_id, channel_id } = hierarchy
    const { response } = await management.call(device.get, { device_id })
    const { device_streams: deviceStreams, ...input } = deviceInput(siteId, engineId, 'first')
    expect(response).toMatchObject({ ...input, device_status: 'unknown', device_state: false })
    expect(response.device_streams).toMatchObject([{ ...deviceStreams[0], password: '***' }])
    expect(response.device_source).toMatchObject([{ source_id, source_channels: [{ channel_id }] }])
    expect(response.device_sources).toEqual(response.device_source)
    expect(response.source_channels).toMatchObject([{ channel_id, device_id }])
  })

  it('store passwords sealed, and keep them when hidden passwords are sent back', async () => {
    const { device_id: deviceId } = hierarchy
    const stored = () =>
      management.database.system('test', tx =>
        tx.select().from(deviceStream).where(eq(deviceStream.device_id, deviceId)),
      )
    const [before] = await stored()
    expect(before!.password).not.toContain('secret')
    const { response } = await management.call(device.view, { device_id: deviceId })
    expect(
      (await management.send(device.update, { ...response, device_name: 'Renamed' })).status,
    ).toBe(200)
    expect(await stored()).toEqual([before])
    expect((await management.call(device.get, { device_id: deviceId })).response.device_name).toBe(
      'Renamed',
    )
  })

  it.each([
    ['host', { address: 'rtsp://attacker/none' }],
    ['scheme', { address: 'http://127.0.0.1/none' }],
    ['port', { address: 'rtsp://127.0.0.1:8554/none' }],
    [
      'host, in front of a password that looks like a host',
      { address: 'rtsp://127.0.0.1@attacker/none' },
    ],
  ])('reject a hidden password for another %s', async (_, changed) => {
    const { device_id } = hierarchy
    const { response } = await management.call(device.view, { device_id })
    const deviceStreams = [{ ...response.device_streams[0]!, ...changed }]
    const { status, message } = await management.send(device.update, {
      ...response,
      device_streams: deviceStreams,
    })
    expect([status, message]).toEqual([
      400,
      'device_streams.0.password: *** refers to a password that is stored for another protocol, host or port: send the password itself',
    ])
    expect((await management.call(device.view, { device_id })).response).toEqual(response)
  })

  it('reject a hidden password of a stream that is new', async () => {
    const { site_id: siteId, engine_id: engineId } = hierarchy
    const deviceStreams = [{ address: 'rtsp://attacker/none', password: '***' }]
    const given = { ...deviceInput(siteId, engineId, 'hidden'), device_streams: deviceStreams }
    const { status, message } = await management.send(device.create, given)
    expect(status).toBe(400)
    expect(message).toContain(
      'device_streams.0.password: *** refers to a stored password, but none is stored',
    )
  })

  it('hide passwords in addresses of streams from clients, the audit log and the database', async () => {
    const { site_id, engine_id } = hierarchy
    const address = 'admin:Hunter2@10.0.0.9/main?token=Hunter3'
    const given = {
      ...deviceInput(site_id, engine_id, 'addressed'),
      device_streams: [{ id: 1, address, port: 554 }],
    }
    const { device_id } = (await management.call(device.create, given)).response
    const read = async () => {
      const [stored] = await management.database.system('test', tx =>
        tx.select().from(deviceStream).where(eq(deviceStream.device_id, device_id)),
      )
      return stored!.address
    }
    const before = await read()
    expect(before).not.toContain('Hunter')
    expect(decryptAddress(before, loadSecrets(management.data))).toBe(address)

    const { response } = await management.call(device.view, { device_id })
    expect(response.device_streams[0]!.address).toBe('admin:***@10.0.0.9/main?token=***')
    expect((await management.send(device.update, response)).status).toBe(200)
    expect(await read()).toBe(before)
    for (const changed of [
      { address: 'admin:***@attacker/main?token=***' },
      { protocol: 'http' },
      { port: 8554 },
    ]) {
      const deviceStreams = [{ ...response.device_streams[0]!, ...changed, password: '' }]
      const { status, message } = await management.send(device.update, {
        ...response,
        device_streams: deviceStreams,
      })
      expect([status, message]).toEqual([
        400,
        'device_streams.0.address: *** refers to a secret that is stored for another protocol, host or port: send the secret itself',
      ])
    }

    const answers = [
      await management.call(device.list, { site_id }),
      await management.call(site.view, { site_id }),
      await management.call(audit.list, { record: 'device_stream' }),
    ]
    for (const answer of answers) {
      expect(JSON.stringify(answer.response)).toContain('admin:***@10.0.0.9/main?token=***')
      expect(JSON.stringify(answer.response)).not.toMatch(/Hunter|sealed1/)
    }
    expect((await management.call(device.delete, { device_id })).status).toBe(200)
  })

  it('reject the removal of a stream that a source reads', async () => {
    const { response } = await management.call(device.get, { device_id: hierarchy.device_id })
    const { status, message } = await management.send(device.update, {
      ...response,
      device_streams: [],
    })
    expect([status, message]).toEqual([
      409,
      'a source still refers to it: delete or change that first',
    ])
  })

  it('keep UUID and streams that an update omits', async () => {
    const { site_id: siteId, engine_id: engineId } = hierarchy
    const { device_streams: deviceStreams, ...required } = deviceInput(siteId, engineId, 'kept')
    const given = { ...required, device_streams: deviceStreams, device_uuid: 'urn:uuid:1' }
    const { device_id } = (await management.call(device.create, given)).response
    const update = { ...required, device_id, device_name: 'New' }
    expect((await management.call(device.update, update)).status).toBe(200)
    expect((await management.call(device.get, { device_id })).response).toMatchObject({
      ...update,
      device_uuid: given.device_uuid,
      device_streams: [{ ...deviceStreams[0], password: '***' }],
    })
    expect((await management.call(device.delete, { device_id })).status).toBe(200)
  })

  it('assign ids to streams without one', async () => {
    const { site_id: siteId, engine_id: engineId } = hierarchy
    const given = {
      ...deviceInput(siteId, engineId, 'numbered'),
      device_streams: [{}, { id: 1 }, {}],
    }
    const { response } = await management.call(device.create, given)
    const { device_streams: deviceStreams } = (await management.call(device.get, response)).response
    expect(deviceStreams.map(({ id }) => id)).toEqual([1, 2, 3])
    const twice = await management.send(device.update, {
      ...given,
      ...response,
      device_streams: [{ id: 1 }, { id: 1 }],
    })
    expect([twice.status, twice.message]).toEqual([400, 'device_streams: ids must be unique'])
  })

  it('return their id on creation, and are deleted when no source reads them', async () => {
    const { site_id: siteId, engine_id: engineId } = hierarchy
    const { status, response } = await management.call(
      device.create,
      deviceInput(siteId, engineId, 'second'),
    )
    expect([status, Object.keys(response)]).toEqual([201, ['device_id']])
    const listed = (await management.call(device.list, { site_id: siteId })).response.map(
      ({ device_id }) => device_id,
    )
    expect(listed).toContain(response.device_id)
    expect((await management.call(device.delete, response)).status).toBe(200)
    expect((await management.call(device.get, response)).status).toBe(404)
  })
})
