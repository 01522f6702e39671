import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createHierarchy, type Hierarchy } from '../../../../test/fixtures/management/hierarchy.ts'
import { sharedManagement } from '../../../../test/fixtures/management/shared-management.ts'
import { channelState, pipeline } from '../../db/schema/index.ts'

const routes = managementRoutes

describe('verified channel', () => {
  const management = sharedManagement()
  let count = 0

  /** Creates a verified channel of an offline engine, so that a change is not verified again. */
  async function createVerified(): Promise<Hierarchy> {
    const hierarchy = await createHierarchy(management, `verified ${++count}`)
    const { channel_id, pipeline_id: pipelineId } = hierarchy
    await management.database.system('test', async tx => {
      const pipelineElements = { elements: [{ name: 'motion' }] }
      await tx
        .update(pipeline)
        .set({ pipeline_elements: pipelineElements })
        .where(eq(pipeline.pipeline_id, pipelineId))
      await tx.insert(channelState).values({ channel_id, is_verified: false, is_heard: true })
    })
    await setVerified(hierarchy)
    return hierarchy
  }

  async function setVerified(hierarchy: Hierarchy): Promise<void> {
    await management.database.system('test', tx =>
      tx
        .update(channelState)
        .set({ is_verified: true })
        .where(eq(channelState.channel_id, hierarchy.channel_id)),
    )
    expect(await isVerified(hierarchy)).toBe(true)
  }

  const isVerified = async ({ channel_id }: Hierarchy) =>
    (await management.call(routes.channel.get, { channel_id })).response.is_verified

  /** Updates a record with the fields that were read and some changes. */
  const update = {
    channel: async ({ channel_id }: Hierarchy, changes: object) =>
      management.send(routes.channel.update, { channel_id, ...changes }),
    pipeline: async ({ pipeline_id }: Hierarchy, changes: object) =>
      management.send(routes.pipeline.update, {
        ...(await management.call(routes.pipeline.get, { pipeline_id })).response,
        ...changes,
      }),
    source: async ({ source_id }: Hierarchy, changes: object) =>
      management.send(routes.source.update, {
        ...(await management.call(routes.source.get, { source_id })).response,
        ...changes,
      }),
    device: async ({ device_id }: Hierarchy, changes: object) =>
      management.send(routes.device.update, {
        ...(await management.call(routes.device.get, { device_id })).response,
        ...changes,
      }),
  }

  it.each([
    ['pipeline', { pipeline_elements: { elements: [{ name: 'motion', args: { history: 5 } }] } }],
    ['pipeline', { pipeline_usecase: 'occupancy' }],
    ['source', { source_fps: 5 }],
    ['source', { source_address: 'rtsp://127.0.0.1/other' }],
    ['source', { sub_stream_id: 1 }],
    ['device', { device_streams: [{ id: 1, address: 'rtsp://127.0.0.1/moved' }] }],
  ] as const)('is no longer verified after a change of its %s: %j', async (kind, changes) => {
    const [hierarchy, other] = [await createVerified(), await createVerified()]
    expect(await update[kind](hierarchy, changes)).toMatchObject({ status: 200 })
    expect([await isVerified(hierarchy), await isVerified(other)]).toEqual([false, true])
  })

  it.each([
    ['pipeline', { pipeline_name: 'New' }],
    ['source', { source_name: 'New', static_content: [{ a: 1 }] }],
    ['device', { device_name: 'New', device_tags: {} }],
    ['channel', { channel_name: 'New', is_storage: true, is_auto_recovery: true }],
  ] as const)(
    'remains verified after a change of its %s that does not concern the engine',
    async (kind, changes) => {
      const hierarchy = await createVerified()
      expect(await update[kind](hierarchy, changes)).toMatchObject({ status: 200 })
      expect(await isVerified(hierarchy)).toBe(true)
    },
  )

  it('is no longer verified after a change of the sub stream of its source', async () => {
    const hierarchy = await createVerified()
    const [main, sub] = [1, 2].map(id => ({ id, address: `rtsp://127.0.0.1/${id}` }))
    await update.device(hierarchy, { device_streams: [main, sub] })
    await update.source(hierarchy, { sub_stream_id: 2 })
    await setVerified(hierarchy)

    const moved = { ...sub, address: 'rtsp://127.0.0.1/moved' }
    const updated = await update.device(hierarchy, { device_streams: [main, moved] })
    expect(updated).toMatchObject({ status: 200 })
    expect(await isVerified(hierarchy)).toBe(false)
  })

  it('is no longer verified after a change by a user who has access to its site only', async () => {
    const hierarchy = await createVerified()
    const manager = await management.signIn('manager', { sites: [hierarchy.site_id] })
    const { response } = await management.call(
      routes.source.get,
      { source_id: hierarchy.source_id },
      manager,
    )
    const sent = await management.send(
      routes.source.update,
      { ...response, source_fps: 7 },
      manager,
    )
    expect(sent).toMatchObject({ status: 200 })
    expect(await isVerified(hierarchy)).toBe(false)
  })
})
