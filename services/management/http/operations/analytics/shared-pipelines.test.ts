import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  deviceInput,
  getCreatedId,
  siteInput,
  sourceInput,
} from '../../../../../test/fixtures/management/hierarchy.ts'
import type { SignedInUser } from '../../../../../test/fixtures/management/management.ts'
import {
  sharedHierarchy,
  sharedManagement,
} from '../../../../../test/fixtures/management/shared-management.ts'
import { engine } from '../../../db/schema/index.ts'

const { channel, device, pipeline, site, source } = managementRoutes

describe('pipelines of an engine that several sites share', () => {
  const management = sharedManagement()
  const own = sharedHierarchy(management, 'own')
  const foreign = sharedHierarchy(management, 'foreign')
  const line = [
    {
      name: 'door',
      points: [
        { x: 0, y: 0 },
        { x: 1, y: 1 },
      ],
    },
  ]
  let keys = 100
  let other: { site_id: string; source_id: string }
  let people: Record<'viewer' | 'manager' | 'admin', SignedInUser>

  /** Adds a camera at a site, and returns its source. */
  async function addSource(site_id: string, name: string) {
    const { engine_id } = own
    const device_id = getCreatedId(
      await management.call(device.create, deviceInput(site_id, engine_id, name)),
    )
    return getCreatedId(await management.call(source.create, sourceInput(device_id, engine_id, name)))
  }

  /** Creates a pipeline with a line in the picture of each of these sources. */
  async function addPipeline(sourceIds: string[], as?: SignedInUser) {
    const config = Object.fromEntries(sourceIds.map(source_id => [source_id, line]))
    const input = {
      engine_id: own.engine_id,
      pipeline_name: `Pipeline ${++keys}`,
      pipeline_usecase: 'line-crossing',
      pipeline_reference_key: keys,
      pipeline_elements: { elements: [{ name: 'line-crossing', args: {}, config }] },
    }
    return getCreatedId(await management.send(pipeline.create, input, as))
  }

  const connect = (source_id: string, pipeline_id: string) =>
    management.send(channel.create, {
      source_id,
      pipeline_id,
      usecase_key: 'line-crossing',
      channel_name: 'Channel',
    })

  const listIds = async (as: SignedInUser) =>
    (await management.call(pipeline.list, undefined, as)).response.map(({ pipeline_id }) => pipeline_id)

  beforeAll(async () => {
    const { organization_id, customer_id } = own
    const site_id = getCreatedId(
      await management.call(site.create, siteInput(organization_id, customer_id, 'other')),
    )
    other = { site_id, source_id: await addSource(site_id, 'other') }
    people = {
      viewer: await management.signIn('viewer', { sites: [own.site_id] }),
      manager: await management.signIn('manager', { sites: [own.site_id] }),
      admin: await management.signIn('admin', { organization: organization_id }),
    }
  }, 180_000)

  it('are invisible to users of other sites', async () => {
    const pipeline_id = await addPipeline([other.source_id])
    expect((await connect(other.source_id, pipeline_id)).status).toBe(201)
    for (const user of [people.viewer, people.manager]) {
      expect(await listIds(user)).not.toContain(pipeline_id)
      expect((await management.send(pipeline.id, { pipeline_id }, user)).status).toBe(404)
    }
    expect(await listIds(people.admin)).toContain(pipeline_id)
  })

  it('show the users of a site only the sources and lines of this site', async () => {
    const pipeline_id = await addPipeline([own.source_id, other.source_id])
    for (const source_id of [own.source_id, other.source_id])
      expect((await connect(source_id, pipeline_id)).status).toBe(201)
    for (const user of [people.viewer, people.manager]) {
      const { response } = await management.call(pipeline.id, { pipeline_id }, user)
      expect(response.pipeline_elements).toMatchObject({ elements: [{ config: { [own.source_id]: line } }] })
      expect(JSON.stringify(response)).not.toContain(other.source_id)
    }
    const { response: shown } = await management.call(pipeline.id, { pipeline_id }, people.manager)
    expect((await management.send(pipeline.update, shown, people.manager)).status).toBe(403)
    expect((await management.send(pipeline.update, shown, people.admin)).status).toBe(200)
  })

  it('are visible to managers, but not to viewers, until a channel uses them', async () => {
    const pipeline_id = await addPipeline([own.source_id], people.manager)
    expect(await listIds(people.manager)).toContain(pipeline_id)
    expect(await listIds(people.viewer)).not.toContain(pipeline_id)
    expect((await connect(own.source_id, pipeline_id)).status).toBe(201)
    expect(await listIds(people.viewer)).toContain(pipeline_id)
  })

  it('belong to one organization: that of their first channel, if the engine belongs to all', async () => {
    await management.database.system('test', tx =>
      tx.update(engine).set({ organization_id: null }).where(eq(engine.engine_id, own.engine_id)),
    )
    const guest = await addSource(foreign.site_id, 'guest')
    const pipeline_id = await addPipeline([])
    const outsiders = [
      await management.signIn('viewer', { sites: [foreign.site_id] }),
      await management.signIn('admin', { organization: foreign.organization_id }),
    ]
    const everyone = [...Object.values(people), ...outsiders]
    for (const user of everyone) expect(await listIds(user)).not.toContain(pipeline_id)
    expect((await connect(guest, pipeline_id)).status).toBe(201)
    const rejected = await connect(own.source_id, pipeline_id)
    expect([rejected.status, rejected.message]).toEqual([
      409,
      'pipeline_id: belongs to another organization than the source: create a pipeline for this organization',
    ])
    for (const user of Object.values(people)) expect(await listIds(user)).not.toContain(pipeline_id)
    for (const user of outsiders) expect(await listIds(user)).toContain(pipeline_id)
  })
})
