import { ENGINE_STATUS, managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { unreachableEngine } from '../../../../../test/fixtures/management/channel-records.ts'
import {
  deviceInput,
  getCreatedId,
  sourceInput,
} from '../../../../../test/fixtures/management/hierarchy.ts'
import {
  sharedHierarchy,
  sharedManagement,
} from '../../../../../test/fixtures/management/shared-management.ts'
import {
  engine,
  engineState,
  formerChannel,
  type ReportedCondition,
  source as sources,
} from '../../../db/schema/index.ts'

const { channel, device, placement, source } = managementRoutes

describe('placement', () => {
  const management = sharedManagement()
  const own = sharedHierarchy(management, 'own')
  /** An engine of the installation, which is connected and idle. */
  let idle: string
  let created = 0

  beforeAll(async () => {
    idle = await addEngine(4, 0)
    await setState(own.engine_id, 4, 3)
  })

  async function addEngine(cores: number, used: number): Promise<string> {
    const [row] = await management.database.system('test', tx =>
      tx.insert(engine).values(unreachableEngine).returning(),
    )
    await setState(row!.engine_id, cores, used)
    return row!.engine_id
  }

  async function setState(
    engineId: string,
    cores: number,
    used: number,
    sources: ReportedCondition['condition']['sources'] = [],
  ): Promise<void> {
    const reported: ReportedCondition = {
      condition: { time: new Date().toISOString(), capacity: { cores, used }, sources },
      requestedMs: 0,
      receivedMs: 0,
    }
    const state = {
      engine_status: ENGINE_STATUS.online,
      condition: reported,
      provisioned_log_id: 'log',
    }
    await management.database.system('test', tx =>
      tx
        .insert(engineState)
        .values({ engine_id: engineId, ...state })
        .onConflictDoUpdate({ target: engineState.engine_id, set: state }),
    )
  }

  async function addSource(): Promise<string> {
    created += 1
    const name = `camera ${created}`
    const { site_id: siteId, engine_id: engineId } = own
    const deviceId = getCreatedId(
      await management.call(device.create, deviceInput(siteId, engineId, name)),
    )
    return getCreatedId(await management.call(source.create, sourceInput(deviceId, engineId, name)))
  }

  const addChannel = (sourceId: string) =>
    management.call(channel.create, {
      source_id: sourceId,
      pipeline_id: own.pipeline_id,
      usecase_key: 'line-crossing',
      channel_name: 'door',
    })

  const readEngine = async (sourceId: string) =>
    (await management.call(source.get, { source_id: sourceId })).response.engine_id

  const setSite = (sitePlacement: 'pinned' | 'automatic') =>
    management.call(placement.updateSite, { site_id: own.site_id, site_placement: sitePlacement })

  it('is pinned by default: sources are on the engine that was chosen for them', async () => {
    const sourceId = await addSource()
    expect(await readEngine(sourceId)).toBe(own.engine_id)
    const { response } = await management.call(placement.site, { site_id: own.site_id })
    expect(response).toMatchObject({ site_placement: 'pinned', site_is_spread: false })
    expect(response.sources).toContainEqual(
      expect.objectContaining({ source_id: sourceId, source_placement: null, placement: 'pinned' }),
    )
  })

  it('chooses the engine with the most free capacity for new sources, and pipelines of another engine', async () => {
    await setSite('automatic')
    const sourceId = await addSource()
    expect(await readEngine(sourceId)).toBe(idle)
    const { response } = await management.call(source.get, { source_id: sourceId })
    const { response: owner } = await management.call(device.get, { device_id: response.device_id })
    expect(owner.engine_id).toBe(idle)
    expect((await addChannel(sourceId)).status).toBe(201)
    await setSite('pinned')
    const other = await addSource()
    await management.call(placement.updateSource, { source_id: other, engine_id: idle })
    expect(await addChannel(other)).toMatchObject({
      status: 409,
      message: expect.stringContaining('runs on another engine than the source'),
    })
  })

  it('moves a source with its channels to an engine, and back', async () => {
    const sourceId = await addSource()
    const channelId = getCreatedId(await addChannel(sourceId))
    const moved = await management.call(placement.updateSource, {
      source_id: sourceId,
      source_placement: 'pinned',
      engine_id: idle,
    })
    expect(moved.status).toBe(200)
    const read = async () =>
      (await management.call(channel.get, { channel_id: channelId })).response
    expect(await read()).toMatchObject({ engine_id: idle, is_verified: false, channel_sid: '' })
    // Such as a client that writes what it has read before.
    const { response } = await management.call(source.get, { source_id: sourceId })
    expect(
      await management.send(source.update, { ...response, engine_id: own.engine_id }),
    ).toMatchObject({
      status: 409,
      message: expect.stringContaining('POST /api/v1/placement/update-source'),
    })
    await management.call(placement.updateSource, { source_id: sourceId, engine_id: own.engine_id })
    expect(await read()).toMatchObject({ engine_id: own.engine_id })
    // The channel was never on an engine, so none has messages of it.
    const former = await management.database.system('test', tx =>
      tx.select().from(formerChannel).where(eq(formerChannel.channel_id, channelId)),
    )
    expect(former).toEqual([])
  })

  it('shows the engines, what runs where, and the rules of the sites', async () => {
    const sourceId = await addSource()
    const channelId = getCreatedId(await addChannel(sourceId))
    const { response } = await management.call(placement.overview)
    expect(response.engines).toContainEqual(
      expect.objectContaining({ engine_id: idle, engine_status: ENGINE_STATUS.online, cores: 4 }),
    )
    expect(response.sites).toContainEqual(
      expect.objectContaining({
        site_id: own.site_id,
        site_placement: 'pinned',
        site_is_spread: false,
      }),
    )
    expect(response.sources).toContainEqual(
      expect.objectContaining({
        source_id: sourceId,
        site_id: own.site_id,
        engine_id: own.engine_id,
        placement: 'pinned',
        cores: null,
        channels: [{ channel_id: channelId, channel_name: 'door', is_active: false }],
      }),
    )
  })

  it('counts the load of a source at its new engine as soon as it is moved', async () => {
    const sourceId = await addSource()
    await addChannel(sourceId)
    await management.database.system('test', tx =>
      tx.update(sources).set({ source_sid: 77 }).where(eq(sources.source_id, sourceId)),
    )
    await setState(own.engine_id, 4, 3, [{ id: 77, type: 'video', state: 'running', load: 1.5 }])
    const target = await addEngine(4, 0)
    const readUsed = async () => {
      const { engines } = (await management.call(placement.overview)).response
      return [own.engine_id, target].map(
        id => engines.find(({ engine_id }) => engine_id === id)!.used,
      )
    }
    const [before] = await readUsed()
    await management.call(placement.updateSource, { source_id: sourceId, engine_id: target })
    const [after, used] = await readUsed()
    expect(used).toBe(1.5)
    expect(before! - after!).toBeCloseTo(1.5)
    await management.call(placement.updateSource, { source_id: sourceId, engine_id: own.engine_id })
    await management.database.system('test', tx =>
      tx.update(sources).set({ source_cores: null }).where(eq(sources.source_id, sourceId)),
    )
  })

  it('plans a better distribution, and applies it once', async () => {
    const ids = await Promise.all([addSource(), addSource()])
    for (const sourceId of ids) {
      await addChannel(sourceId)
      await management.call(placement.updateSource, {
        source_id: sourceId,
        source_placement: 'automatic',
      })
    }
    // Its sources have not been measured: each counts as an eighth of a core.
    await setState(own.engine_id, 1, 0.2)
    const empty = await addEngine(8, 0)
    const { response: plan } = await management.call(placement.plan)
    expect(plan.engines).toContainEqual(
      expect.objectContaining({ engine_id: empty, cores: 8, used: 0, is_available: true }),
    )
    expect(plan.moves.length).toBeGreaterThan(0)
    for (const move of plan.moves) expect(ids).toContain(move.source_id)
    const moves = plan.moves.map(({ source_id, from_engine_id, to_engine_id }) => ({
      source_id,
      from_engine_id,
      to_engine_id,
    }))
    expect((await management.call(placement.apply, { moves })).status).toBe(200)
    for (const { source_id: sourceId, to_engine_id: toEngineId } of moves) {
      expect(await readEngine(sourceId)).toBe(toEngineId)
    }
    expect(await management.call(placement.apply, { moves })).toMatchObject({
      status: 409,
      message: expect.stringContaining('request a new plan'),
    })
  })
})
