import { managementRoutes } from '@eyrie/contract/management/index'
import { expect, test, vi } from 'vitest'
import { startFleet, startManagedEngine } from '../../../../test/fixtures/fleet.ts'

const LONG_MS = 400_000

test(
  'an engine that is registered twice, as two organizations do that share it, serves both without a quarrel',
  async () => {
    const fleet = await startFleet()
    const { api, port } = await startManagedEngine()
    const [first, second] = [
      await fleet.register({ engine_port: port }),
      await fleet.register({ engine_port: port }),
    ]
    const channels = []
    for (const engine_id of [first, second]) {
      const { source_id } = await fleet.addSource(engine_id, { address: 'cam.test' })
      const pipeline_id = await fleet.addPipeline(engine_id, [{ name: 'object-tracking' }])
      channels.push(await fleet.addChannel(source_id, pipeline_id))
    }
    const [own, other] = await Promise.all(channels.map(fleet.untilThere))
    expect(own!.channel_sid).not.toBe(other!.channel_sid)
    await Promise.all([fleet.until(first, 1), fleet.until(second, 1)])
    const { drift } = managementRoutes.engine
    for (const engine_id of [first, second])
      expect((await fleet.call(drift, { engine_id })).response.drift).toEqual([])

    const { channel, engine } = managementRoutes
    const refused = await fleet.call(engine.delete, { engine_id: second })
    expect(refused.status).toBe(409)
    await fleet.call(channel.delete, { channel_id: other!.channel_id })
    const ids = async () => (await api.getExports()).channels?.map(({ id }) => String(id))
    await vi.waitFor(async () => expect(await ids()).toEqual([own!.channel_sid]))
    expect(await fleet.channel(own!.channel_id)).toMatchObject({ is_verified: true })
    await fleet.until(first, 1)
  },
  LONG_MS,
)
