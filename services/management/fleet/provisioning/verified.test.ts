import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { type Hierarchy, makeHierarchy } from '../../../../test/fixtures/hierarchy.ts'
import { sharedManagement } from '../../../../test/fixtures/shared-management.ts'
import { channelState, pipeline } from '../../db/schema/index.ts'

const routes = managementRoutes

describe('a channel that is on its engine as it is stored', () => {
  const its = sharedManagement()
  let count = 0

  /** The engine is away, so that nothing verifies the channel again. */
  async function verified(): Promise<Hierarchy> {
    const made = await makeHierarchy(its, `verified ${++count}`)
    const { channel_id, pipeline_id } = made
    await its.database.system('test', async tx => {
      const pipeline_elements = { elements: [{ name: 'motion' }] }
      await tx.update(pipeline).set({ pipeline_elements }).where(eq(pipeline.pipeline_id, pipeline_id))
      await tx.insert(channelState).values({ channel_id, is_verified: true, is_heard: true })
    })
    expect(await isVerified(made)).toBe(true)
    return made
  }

  const isVerified = async ({ channel_id }: Hierarchy) =>
    (await its.call(routes.channel.id, { channel_id })).response.is_verified

  /** Sends a record back as it was read, but for a change. */
  const change = {
    channel: async ({ channel_id }: Hierarchy, more: object) =>
      its.send(routes.channel.update, { channel_id, ...more }),
    pipeline: async ({ pipeline_id }: Hierarchy, more: object) =>
      its.send(routes.pipeline.update, {
        ...(await its.call(routes.pipeline.id, { pipeline_id })).response,
        ...more,
      }),
    source: async ({ source_id }: Hierarchy, more: object) =>
      its.send(routes.source.update, {
        ...(await its.call(routes.source.id, { source_id })).response,
        ...more,
      }),
    device: async ({ device_id }: Hierarchy, more: object) =>
      its.send(routes.device.update, {
        ...(await its.call(routes.device.id, { device_id })).response,
        ...more,
      }),
  }

  it.each([
    ['pipeline', { pipeline_elements: { elements: [{ name: 'motion', args: { history: 5 } }] } }],
    ['pipeline', { pipeline_usecase: 'occupancy' }],
    ['source', { source_fps: 5 }],
    ['source', { source_address: 'rtsp://127.0.0.1/other' }],
    ['device', { device_streams: [{ id: 1, address: 'rtsp://127.0.0.1/moved' }] }],
  ] as const)('is so no longer with another %s: %j', async (kind, more) => {
    const [made, other] = [await verified(), await verified()]
    expect(await change[kind](made, more)).toMatchObject({ status: 200 })
    expect([await isVerified(made), await isVerified(other)]).toEqual([false, true])
  })

  it.each([
    ['pipeline', { pipeline_name: 'New' }],
    ['source', { source_name: 'New', static_content: [{ a: 1 }] }],
    ['device', { device_name: 'New', device_tags: {} }],
    ['channel', { channel_name: 'New', is_storage: true, is_auto_recovery: true }],
  ] as const)('stays so whatever changes of a %s that no engine knows of', async (kind, more) => {
    const made = await verified()
    expect(await change[kind](made, more)).toMatchObject({ status: 200 })
    expect(await isVerified(made)).toBe(true)
  })

  it('is so no longer where somebody changes it who sees its site alone', async () => {
    const made = await verified()
    const manager = await its.signIn('manager', { sites: [made.site_id] })
    const { response } = await its.call(routes.source.id, { source_id: made.source_id }, manager)
    const sent = await its.send(routes.source.update, { ...response, source_fps: 7 }, manager)
    expect(sent).toMatchObject({ status: 200 })
    expect(await isVerified(made)).toBe(false)
  })
})
