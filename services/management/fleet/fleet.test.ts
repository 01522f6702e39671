import { rm } from 'node:fs/promises'
import { managementRoutes } from '@eyrie/contract/management/index'
import { createLog } from '@eyrie/kit'
import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { startFleet, startManagedEngine } from '../../../test/fixtures/management/fleet.ts'
import { getCreatedId, siteInput } from '../../../test/fixtures/management/hierarchy.ts'
import { SMALL_PICTURE } from '../../../test/fixtures/media/small-picture.ts'
import { engineSite, engineState, site as siteTable } from '../db/schema/index.ts'

const LONG_MS = 400_000
const { engine: engines, device, source, pipeline, channel, site } = managementRoutes
const lineCoords = [
  { x: 0, y: 0.5 },
  { x: 1, y: 0.5 },
]
const counting = (sourceId: string) => [
  { name: 'object-tracking', args: { max_age: 5 } },
  {
    name: 'line-crossing',
    config: { [sourceId]: { lines: [{ name: 'door', coords: lineCoords }] } },
  },
]

/** Adds a site of the same customer that shares the engine. Returns its id. */
async function addSecondSite(
  { call, database, site_id: siteId }: Awaited<ReturnType<typeof startFleet>>,
  engineId: string,
) {
  const sites = await database.system('test', tx => tx.select().from(siteTable))
  const { organization_id: organizationId, customer_id: customerId } = sites.find(
    row => row.site_id === siteId,
  )!
  const second = getCreatedId(
    await call(site.create, siteInput(organizationId, customerId, 'second')),
  )
  await database.system('test', tx =>
    tx.insert(engineSite).values({ engine_id: engineId, site_id: second }),
  )
  return second
}

describe('fleet', () => {
  it(
    'raises an alarm while no message of an engine can be stored',
    async () => {
      const fleet = await startFleet({ log: createLog('test', 'silent') })
      const { port } = await startManagedEngine()
      const engineId = await fleet.registerEngine({ engine_port: port, engine_name: 'Berlin' })
      await fleet.untilStatus(engineId, 1)
      const { source_id: sourceId } = await fleet.addSource(engineId, { address: 'cam.test/main' })
      const addChannel = async () =>
        fleet.addChannel(sourceId, await fleet.addPipeline(engineId, counting(sourceId)))
      const execute = (statement: string) =>
        fleet.database.system('test', tx => tx.execute(sql.raw(statement)))

      await execute(`
        create function refuse() returns trigger language plpgsql as
        $$ begin raise exception 'test' using errcode = '22P02'; end $$`)
      await execute(
        'create trigger refused before insert on event for each row execute function refuse()',
      )
      await vi.waitFor(async () => {
        await addChannel()
        expect(fleet.fleet.alarms()).toEqual([
          expect.stringMatching(/^all events of engine Berlin are lost, because none /),
        ])
      }, LONG_MS)
      const areEventsLost = async () => {
        const [state] = await fleet.database.system('test', tx => tx.select().from(engineState))
        return state!.condition?.areEventsLost
      }
      await vi.waitUntil(areEventsLost, LONG_MS)

      await execute('drop trigger refused on event')
      await addChannel()
      await vi.waitFor(() => expect(fleet.fleet.alarms()).toEqual([]), LONG_MS)
      await vi.waitFor(async () => expect(await areEventsLost()).toBe(false), LONG_MS)
    },
    LONG_MS,
  )

  it(
    'creates the stored configuration on an engine and applies later changes',
    async () => {
      const fleet = await startFleet()
      const { api, port } = await startManagedEngine()
      const foreign = await api.source.create({ type: 'inf', address: SMALL_PICTURE })
      const engineId = await fleet.registerEngine({ engine_port: port })
      await fleet.untilStatus(engineId, 1)

      const stream = {
        address: 'cam.test/main',
        username: 'viewer',
        password: 'secret',
        fps: { output: 5 },
      }
      const { device_id, source_id: sourceId } = await fleet.addSource(engineId, stream)
      const pipelineId = await fleet.addPipeline(engineId, counting(sourceId))
      const channelId = await fleet.addChannel(sourceId, pipelineId)
      const { channel_sid: channelSid } = await fleet.untilVerified(channelId)

      const configuration = await api.getConfiguration()
      const [untouched, added] = configuration.sources
      expect(untouched).toEqual(foreign)
      expect(added).toMatchObject({
        type: 'video',
        rate: 5,
        address: { url: 'rtsp://cam.test/main', username: 'viewer', password: '***' },
      })
      expect(configuration.pipelines).toMatchObject([
        {
          usecase: 'line-crossing',
          sources: [added!.id],
          elements: [{}, { config: { [added!.id]: { lines: [{ name: 'door' }] } } }],
        },
      ])
      const { channels } = await api.getExports()
      expect(channels).toMatchObject([{ id: Number(channelSid), source: added!.id }])
      const { response } = await fleet.call(pipeline.get, { pipeline_id: pipelineId })
      expect(response.pipeline_source).toEqual([added!.id])

      const { response: stored } = await fleet.call(device.get, { device_id })
      const [before] = stored.device_streams
      await fleet.send(device.update, {
        ...stored,
        device_streams: [{ ...before, address: 'cam.test/sub' }],
      })
      await vi.waitFor(async () =>
        expect(await api.source.get(added!.id)).toMatchObject({
          address: { url: 'rtsp://cam.test/sub' },
        }),
      )

      await fleet.call(channel.delete, { channel_id: channelId })
      await fleet.call(pipeline.delete, { pipeline_id: pipelineId })
      await fleet.call(source.delete, { source_id: sourceId })
      await vi.waitFor(async () =>
        expect(await api.getConfiguration()).toEqual({
          sources: [foreign],
          sinks: [],
          pipelines: [],
        }),
      )

      await fleet.call(device.delete, { device_id })
      expect((await api.consumer.list()).map(({ name }) => name)).toEqual(['management'])
      await fleet.call(engines.delete, { engine_id: engineId })
      await vi.waitFor(async () => expect(await api.consumer.list()).toEqual([]))
    },
    LONG_MS,
  )

  it(
    'restores the stored configuration after an engine was killed or wiped',
    async () => {
      const fleet = await startFleet()
      const first = await startManagedEngine()
      const engineId = await fleet.registerEngine({ engine_port: first.port })
      const { source_id: sourceId } = await fleet.addSource(engineId, { address: 'cam.test' })
      const pipelineId = await fleet.addPipeline(engineId, counting(sourceId))
      const channelId = await fleet.addChannel(sourceId, pipelineId)
      await fleet.untilVerified(channelId)

      await first.kill()
      await fleet.untilStatus(engineId, 2)
      expect(await fleet.getChannel(channelId)).toMatchObject({ is_active: false })
      const second = await fleet.addSource(engineId, { address: 'other.test' })
      const options = { data: first.data, variables: { EYRIE_ENGINE_PORT: String(first.port) } }
      const restarted = await startManagedEngine(options)
      await vi.waitFor(async () => {
        const { sources } = await restarted.api.getConfiguration()
        expect(sources.map(({ address }) => address)).toEqual([
          'rtsp://cam.test',
          'rtsp://other.test',
        ])
      })

      await restarted.kill()
      await rm(first.data, { recursive: true })
      const wiped = await startManagedEngine(options)
      await wiped.api.source.create({ type: 'inf', address: SMALL_PICTURE })
      await vi.waitFor(async () => {
        const { sources, pipelines } = await wiped.api.getConfiguration()
        const sidByAddress = new Map(sources.map(({ id, address }) => [address, id]))
        expect([...sidByAddress.keys()].sort()).toEqual([
          'rtsp://cam.test',
          'rtsp://other.test',
          SMALL_PICTURE,
        ])
        expect(pipelines).toMatchObject([{ sources: [sidByAddress.get('rtsp://cam.test')] }])
      })
      await vi.waitFor(async () => {
        const { sources } = await wiped.api.getConfiguration()
        const { response } = await fleet.call(pipeline.get, { pipeline_id: pipelineId })
        expect(response.pipeline_source).toEqual([
          sources.find(({ address }) => address === 'rtsp://cam.test')?.id,
        ])
      })
      expect(second.source_id).not.toBe(sourceId)
    },
    LONG_MS,
  )

  it(
    'reports changes made on an engine as drift and overwrites them only on repair',
    async () => {
      const fleet = await startFleet()
      const { api, port } = await startManagedEngine()
      const engineId = await fleet.registerEngine({ engine_port: port })
      const { source_id: sourceId } = await fleet.addSource(engineId, {
        address: 'cam.test',
        password: 'x',
        username: 'y',
      })
      const pipelineId = await fleet.addPipeline(engineId, counting(sourceId))
      const channelId = await fleet.addChannel(sourceId, pipelineId)
      await fleet.untilVerified(channelId)
      const [current] = await api.source.list()

      await api.source.modify(current!.id, { rate: 2 })
      await fleet.send(pipeline.update, {
        ...(await fleet.call(pipeline.get, { pipeline_id: pipelineId })).response,
        pipeline_name: 'another',
        pipeline_elements: { elements: [{ name: 'object-tracking' }] },
      })
      await vi.waitFor(async () =>
        expect((await api.pipeline.list())[0]!.elements).toEqual([{ name: 'object-tracking' }]),
      )
      const drift = await vi.waitFor(async () => {
        const { response } = await fleet.call(engines.drift, { engine_id: engineId })
        expect(response.drift).toHaveLength(1)
        return response.drift
      })
      expect(drift).toMatchObject([
        {
          record: 'source',
          record_id: sourceId,
          sid: current!.id,
          field: 'rate',
          found: 2,
          reason: '',
        },
      ])
      const own = await fleet.signIn('viewer', { sites: [fleet.site_id] })
      expect(
        (await fleet.call(engines.drift, { engine_id: engineId }, own)).response.drift,
      ).toEqual(drift)
      const stranger = await fleet.signIn('viewer', {
        sites: [await addSecondSite(fleet, engineId)],
      })
      const { status, response: shown } = await fleet.call(
        engines.drift,
        { engine_id: engineId },
        stranger,
      )
      expect([status, shown.drift]).toEqual([200, []])

      expect(await api.source.get(current!.id)).toMatchObject({ rate: 2 })
      await vi.waitFor(async () =>
        expect(await fleet.getChannel(channelId)).toMatchObject({ is_verified: false }),
      )

      const repaired = await fleet.call(engines.repair, { engine_id: engineId })
      expect(repaired).toMatchObject({ status: 200, response: { engine_id: engineId } })
      expect((await api.source.get(current!.id)).rate).toBeUndefined()
      const { response } = await fleet.call(engines.drift, { engine_id: engineId })
      expect(response.drift).toEqual([])
    },
    LONG_MS,
  )

  it(
    'reports rejected records with the reason and applies the others',
    async () => {
      const fleet = await startFleet()
      const { api, port } = await startManagedEngine()
      const engineId = await fleet.registerEngine({ engine_port: port })
      const pipelineId = await fleet.addPipeline(engineId, [{ name: 'no-such-element' }])
      const { source_id: sourceId } = await fleet.addSource(engineId, { address: 'cam.test' })
      await fleet.addSource(engineId, { address: '' }, 'without an address')
      await vi.waitFor(async () => expect(await api.source.list()).toHaveLength(1))
      await fleet.addChannel(sourceId, pipelineId)
      await vi.waitFor(async () => {
        const { response } = await fleet.call(engines.drift, { engine_id: engineId })
        expect(response.drift).toMatchObject([
          {
            record: 'source',
            name: 'without an address',
            reason: expect.stringContaining('no address'),
          },
          {
            record: 'pipeline',
            record_id: pipelineId,
            reason: expect.stringContaining('no-such-element'),
          },
        ])
      })
      expect(await api.pipeline.list()).toEqual([])
    },
    LONG_MS,
  )

  it('manages five engines independently', { tags: 'long', timeout: LONG_MS }, async () => {
    const fleet = await startFleet()
    const started = await Promise.all(Array.from({ length: 5 }, () => startManagedEngine()))
    const managed = await Promise.all(
      started.map(async (engine, n) => {
        const engineId = await fleet.registerEngine({ engine_port: engine.port })
        const { source_id: sourceId } = await fleet.addSource(engineId, {
          address: `cam${n}.test`,
        })
        const pipelineId = await fleet.addPipeline(engineId, counting(sourceId))
        return {
          engine,
          engine_id: engineId,
          channel_id: await fleet.addChannel(sourceId, pipelineId),
          n,
        }
      }),
    )
    const expectOwn = async ({ engine, n }: (typeof managed)[number]) => {
      const { sources, pipelines } = await engine.api.getConfiguration()
      expect(sources.map(({ address }) => address)).toEqual([`rtsp://cam${n}.test`])
      expect(pipelines).toMatchObject([{ sources: [sources[0]!.id] }])
    }
    for (const { channel_id: channelId } of managed) await fleet.untilVerified(channelId)
    for (const entry of managed) await expectOwn(entry)

    const [lost, ...others] = managed
    await lost!.engine.kill()
    await fleet.untilStatus(lost!.engine_id, 2)
    for (const { engine_id: engineId, channel_id: channelId, engine, n } of others) {
      expect(await fleet.getEngineStatus(engineId)).toMatchObject({ engine_status: 1 })
      const sourceSid = (await engine.api.source.list())[0]!.id
      await engine.api.source.remove(sourceSid, { force: true })
      await fleet.addSource(engineId, { address: `more${n}.test` })
      await vi.waitFor(async () => {
        const addresses = (await engine.api.source.list()).map(({ address }) => address)
        expect(addresses.sort()).toEqual([`rtsp://cam${n}.test`, `rtsp://more${n}.test`])
      })
      await fleet.untilVerified(channelId)
    }
  })
})
