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
  async function addSource(siteId: string, name: string) {
    const { engine_id: engineId } = own
    const deviceId = getCreatedId(
      await management.call(device.create, deviceInput(siteId, engineId, name)),
    )
    return getCreatedId(await management.call(source.create, sourceInput(deviceId, engineId, name)))
  }

  /** Creates a pipeline with a line in the picture of each of these sources. */
  async function addPipeline(sourceIds: string[], as?: SignedInUser) {
    const config = Object.fromEntries(sourceIds.map(sourceId => [sourceId, line]))
    const input = {
      engine_id: own.engine_id,
      pipeline_name: `Pipeline ${++keys}`,
      pipeline_usecase: 'line-crossing',
      pipeline_reference_key: keys,
      pipeline_elements: { elements: [{ name: 'line-crossing', args: {}, config }] },
    }
    return getCreatedId(await management.send(pipeline.create, input, as))
  }

  const connect = (sourceId: string, pipelineId: string) =>
    management.send(channel.create, {
      source_id: sourceId,
      pipeline_id: pipelineId,
      usecase_key: 'line-crossing',
      channel_name: 'Channel',
    })

  const listIds = async (as: SignedInUser) =>
    (await management.call(pipeline.list, undefined, as)).response.map(
      ({ pipeline_id }) => pipeline_id,
    )

  beforeAll(async () => {
    const { organization_id: organizationId, customer_id: customerId } = own
    const siteId = getCreatedId(
      await management.call(site.create, siteInput(organizationId, customerId, 'other')),
    )
    other = { site_id: siteId, source_id: await addSource(siteId, 'other') }
    people = {
      viewer: await management.signIn('viewer', { sites: [own.site_id] }),
      manager: await management.signIn('manager', { sites: [own.site_id] }),
      admin: await management.signIn('admin', { organization: organizationId }),
    }
  }, 180_000)

  it('are invisible to users of other sites', async () => {
    const pipelineId = await addPipeline([other.source_id])
    expect((await connect(other.source_id, pipelineId)).status).toBe(201)
    for (const user of [people.viewer, people.manager]) {
      expect(await listIds(user)).not.toContain(pipelineId)
      expect((await management.send(pipeline.get, { pipeline_id: pipelineId }, user)).status).toBe(
        404,
      )
    }
    expect(await listIds(people.admin)).toContain(pipelineId)
  })

  it('show the users of a site only the sources and lines of this site', async () => {
    const pipelineId = await addPipeline([own.source_id, other.source_id])
    for (const sourceId of [own.source_id, other.source_id]) {
      expect((await connect(sourceId, pipelineId)).status).toBe(201)
    }
    for (const user of [people.viewer, people.manager]) {
      const { response } = await management.call(pipeline.get, { pipeline_id: pipelineId }, user)
      expect(response.pipeline_elements).toMatchObject({
        elements: [{ config: { [own.source_id]: line } }],
      })
      expect(JSON.stringify(response)).not.toContain(other.source_id)
    }
    const { response: shown } = await management.call(
      pipeline.get,
      { pipeline_id: pipelineId },
      people.manager,
    )
    expect((await management.send(pipeline.update, shown, people.manager)).status).toBe(403)
    expect((await management.send(pipeline.update, shown, people.admin)).status).toBe(200)
  })

  it('are visible to managers, but not to viewers, until a channel uses them', async () => {
    const pipelineId = await addPipeline([own.source_id], people.manager)
    expect(await listIds(people.manager)).toContain(pipelineId)
    expect(await listIds(people.viewer)).not.toContain(pipelineId)
    expect((await connect(own.source_id, pipelineId)).status).toBe(201)
    expect(await listIds(people.viewer)).toContain(pipelineId)
  })

  it('belong to one organization: that of their first channel, if the engine belongs to all', async () => {
    await management.database.system('test', tx =>
      tx.update(engine).set({ organization_id: null }).where(eq(engine.engine_id, own.engine_id)),
    )
    const guest = await addSource(foreign.site_id, 'guest')
    const pipelineId = await addPipeline([])
    const outsiders = [
      await management.signIn('viewer', { sites: [foreign.site_id] }),
      await management.signIn('admin', { organization: foreign.organization_id }),
    ]
    const everyone = [...Object.values(people), ...outsiders]
    for (const user of everyone) expect(await listIds(user)).not.toContain(pipelineId)
    expect((await connect(guest, pipelineId)).status).toBe(201)
    const rejected = await connect(own.source_id, pipelineId)
    expect([rejected.status, rejected.message]).toEqual([
      409,
      'pipeline_id: belongs to another organization than the source: create a pipeline for this organization',
    ])
    for (const user of Object.values(people)) expect(await listIds(user)).not.toContain(pipelineId)
    for (const user of outsiders) expect(await listIds(user)).toContain(pipelineId)
  })
})
