import { rm } from 'node:fs/promises'
import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it, vi } from 'vitest'
import { startFleet, startManagedEngine } from '../../../test/fixtures/management/fleet.ts'
import { getCreatedId, siteInput } from '../../../test/fixtures/management/hierarchy.ts'
import { SMALL_PICTURE } from '../../../test/fixtures/media/small-picture.ts'
import { engineSite, site as siteTable } from '../db/schema/index.ts'

const LONG_MS = 400_000
const { engine: engines, device, source, pipeline, channel, site } = managementRoutes
const lineCoords = [
  { x: 0, y: 0.5 },
  { x: 1, y: 0.5 },
]
const counting = (source_id: string) => [
  { name: 'object-tracking', args: { max_age: 5 } },
  { name: 'line-crossing', config: { [source_id]: { lines: [{ name: 'door', coords: lineCoords }] } } },
]

/** Adds a site of the same customer that shares the engine. Returns its id. */
async function addSecondSite(
  { call, database, site_id }: Awaited<ReturnType<typeof startFleet>>,
  engine_id: string,
) {
  const sites = await database.system('test', tx => tx.select().from(siteTable))
  const { organization_id, customer_id } = sites.find(row => row.site_id === site_id)!
  const second = getCreatedId(await call(site.create, siteInput(organization_id, customer_id, 'second')))
  await database.system('test', tx => tx.insert(engineSite).values({ engine_id, site_id: second }))
  return second
}

describe('fleet', () => {
  it(
    'creates the stored configuration on an engine and applies later changes',
    async () => {
      const fleet = await startFleet()
      const { api, port } = await startManagedEngine()
      const foreign = await api.source.create({ type: 'inf', address: SMALL_PICTURE })
      const engine_id = await fleet.registerEngine({ engine_port: port })
      await fleet.untilStatus(engine_id, 1)

      const stream = { address: 'cam.test/main', username: 'viewer', password: 'secret', fps: { output: 5 } }
      const { device_id, source_id } = await fleet.addSource(engine_id, stream)
      const pipeline_id = await fleet.addPipeline(engine_id, counting(source_id))
      const channel_id = await fleet.addChannel(source_id, pipeline_id)
      const { channel_sid } = await fleet.untilVerified(channel_id)

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
      expect(channels).toMatchObject([{ id: Number(channel_sid), source: added!.id }])
      const { response } = await fleet.call(pipeline.id, { pipeline_id })
      expect(response.pipeline_source).toEqual([added!.id])

      const { response: stored } = await fleet.call(device.id, { device_id })
      const [before] = stored.device_streams
      await fleet.send(device.update, { ...stored, device_streams: [{ ...before, address: 'cam.test/sub' }] })
      await vi.waitFor(async () =>
        expect(await api.source.get(added!.id)).toMatchObject({ address: { url: 'rtsp://cam.test/sub' } }),
      )

      await fleet.call(channel.delete, { channel_id })
      await fleet.call(pipeline.delete, { pipeline_id })
      await fleet.call(source.delete, { source_id })
      await vi.waitFor(async () =>
        expect(await api.getConfiguration()).toEqual({ sources: [foreign], sinks: [], pipelines: [] }),
      )

      await fleet.call(device.delete, { device_id })
      expect((await api.consumer.list()).map(({ name }) => name)).toEqual(['management'])
      await fleet.call(engines.delete, { engine_id })
      await vi.waitFor(async () => expect(await api.consumer.list()).toEqual([]))
    },
    LONG_MS,
  )

  it(
    'restores the stored configuration after an engine was killed or wiped',
    async () => {
      const fleet = await startFleet()
      const first = await startManagedEngine()
      const engine_id = await fleet.registerEngine({ engine_port: first.port })
      const { source_id } = await fleet.addSource(engine_id, { address: 'cam.test' })
      const pipeline_id = await fleet.addPipeline(engine_id, counting(source_id))
      const channel_id = await fleet.addChannel(source_id, pipeline_id)
      await fleet.untilVerified(channel_id)

      await first.kill()
      await fleet.untilStatus(engine_id, 2)
      expect(await fleet.getChannel(channel_id)).toMatchObject({ is_active: false })
      const second = await fleet.addSource(engine_id, { address: 'other.test' })
      const options = { data: first.data, variables: { EYRIE_ENGINE_PORT: String(first.port) } }
      const restarted = await startManagedEngine(options)
      await vi.waitFor(async () => {
        const { sources } = await restarted.api.getConfiguration()
        expect(sources.map(({ address }) => address)).toEqual(['rtsp://cam.test', 'rtsp://other.test'])
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
        const { response } = await fleet.call(pipeline.id, { pipeline_id })
        expect(response.pipeline_source).toEqual([
          sources.find(({ address }) => address === 'rtsp://cam.test')?.id,
        ])
      })
      expect(second.source_id).not.toBe(source_id)
    },
    LONG_MS,
  )

  it(
    'reports changes made on an engine as drift and overwrites them only on repair',
    async () => {
      const fleet = await startFleet()
      const { api, port } = await startManagedEngine()
      const engine_id = await fleet.registerEngine({ engine_port: port })
      const { source_id } = await fleet.addSource(engine_id, {
        address: 'cam.test',
        password: 'x',
        username: 'y',
      })
      const pipeline_id = await fleet.addPipeline(engine_id, counting(source_id))
      const channel_id = await fleet.addChannel(source_id, pipeline_id)
      await fleet.untilVerified(channel_id)
      const [current] = await api.source.list()

      await api.source.modify(current!.id, { rate: 2 })
      await fleet.send(pipeline.update, {
        ...(await fleet.call(pipeline.id, { pipeline_id })).response,
        pipeline_name: 'another',
        pipeline_elements: { elements: [{ name: 'object-tracking' }] },
      })
      await vi.waitFor(async () =>
        expect((await api.pipeline.list())[0]!.elements).toEqual([{ name: 'object-tracking' }]),
      )
      const drift = await vi.waitFor(async () => {
        const { response } = await fleet.call(engines.drift, { engine_id })
        expect(response.drift).toHaveLength(1)
        return response.drift
      })
      expect(drift).toMatchObject([
        { record: 'source', record_id: source_id, sid: current!.id, field: 'rate', found: 2, reason: '' },
      ])
      const own = await fleet.signIn('viewer', { sites: [fleet.site_id] })
      expect((await fleet.call(engines.drift, { engine_id }, own)).response.drift).toEqual(drift)
      const stranger = await fleet.signIn('viewer', { sites: [await addSecondSite(fleet, engine_id)] })
      const { status, response: shown } = await fleet.call(engines.drift, { engine_id }, stranger)
      expect([status, shown.drift]).toEqual([200, []])

      expect(await api.source.get(current!.id)).toMatchObject({ rate: 2 })
      await vi.waitFor(async () =>
        expect(await fleet.getChannel(channel_id)).toMatchObject({ is_verified: false }),
      )

      const repaired = await fleet.call(engines.repair, { engine_id })
      expect(repaired).toMatchObject({ status: 200, response: { engine_id } })
      expect((await api.source.get(current!.id)).rate).toBeUndefined()
      const { response } = await fleet.call(engines.drift, { engine_id })
      expect(response.drift).toEqual([])
    },
    LONG_MS,
  )

  it(
    'reports rejected records with the reason and applies the others',
    async () => {
      const fleet = await startFleet()
      const { api, port } = await startManagedEngine()
      const engine_id = await fleet.registerEngine({ engine_port: port })
      const pipeline_id = await fleet.addPipeline(engine_id, [{ name: 'no-such-element' }])
      const { source_id } = await fleet.addSource(engine_id, { address: 'cam.test' })
      await fleet.addSource(engine_id, { address: '' }, 'without an address')
      await vi.waitFor(async () => expect(await api.source.list()).toHaveLength(1))
      await fleet.addChannel(source_id, pipeline_id)
      await vi.waitFor(async () => {
        const { response } = await fleet.call(engines.drift, { engine_id })
        expect(response.drift).toMatchObject([
          { record: 'source', name: 'without an address', reason: expect.stringContaining('no address') },
          { record: 'pipeline', record_id: pipeline_id, reason: expect.stringContaining('no-such-element') },
        ])
      })
      expect(await api.pipeline.list()).toEqual([])
    },
    LONG_MS,
  )

  it(
    'manages five engines independently',
    async () => {
      const fleet = await startFleet()
      const started = await Promise.all(Array.from({ length: 5 }, () => startManagedEngine()))
      const managed = await Promise.all(
        started.map(async (engine, n) => {
          const engine_id = await fleet.registerEngine({ engine_port: engine.port })
          const { source_id } = await fleet.addSource(engine_id, { address: `cam${n}.test` })
          const pipeline_id = await fleet.addPipeline(engine_id, counting(source_id))
          return { engine, engine_id, channel_id: await fleet.addChannel(source_id, pipeline_id), n }
        }),
      )
      const expectOwn = async ({ engine, n }: (typeof managed)[number]) => {
        const { sources, pipelines } = await engine.api.getConfiguration()
        expect(sources.map(({ address }) => address)).toEqual([`rtsp://cam${n}.test`])
        expect(pipelines).toMatchObject([{ sources: [sources[0]!.id] }])
      }
      for (const { channel_id } of managed) await fleet.untilVerified(channel_id)
      for (const entry of managed) await expectOwn(entry)

      const [lost, ...others] = managed
      await lost!.engine.kill()
      await fleet.untilStatus(lost!.engine_id, 2)
      for (const { engine_id, channel_id, engine, n } of others) {
        expect(await fleet.getEngineStatus(engine_id)).toMatchObject({ engine_status: 1 })
        const source_sid = (await engine.api.source.list())[0]!.id
        await engine.api.source.remove(source_sid, { force: true })
        await fleet.addSource(engine_id, { address: `more${n}.test` })
        await vi.waitFor(async () => {
          const addresses = (await engine.api.source.list()).map(({ address }) => address)
          expect(addresses.sort()).toEqual([`rtsp://cam${n}.test`, `rtsp://more${n}.test`])
        })
        await fleet.untilVerified(channel_id)
      }
    },
    LONG_MS,
  )
})
