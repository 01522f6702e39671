import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it, vi } from 'vitest'
import { startFleet, startManagedEngine } from '../../../../test/fixtures/management/fleet.ts'

const LONG_MS = 400_000

describe('shared engine', () => {
  it(
    'serves two organizations that both have registered it',
    async () => {
      const fleet = await startFleet()
      const { api, port } = await startManagedEngine()
      const [first, second] = [
        await fleet.registerEngine({ engine_port: port }),
        await fleet.registerEngine({ engine_port: port }),
      ]
      const channels = []
      for (const engineId of [first, second]) {
        const { source_id: sourceId } = await fleet.addSource(engineId, { address: 'cam.test' })
        const pipelineId = await fleet.addPipeline(engineId, [{ name: 'object-tracking' }])
        channels.push(await fleet.addChannel(sourceId, pipelineId))
      }
      const [own, other] = await Promise.all(channels.map(fleet.untilVerified))
      expect(own!.channel_sid).not.toBe(other!.channel_sid)
      await Promise.all([fleet.untilStatus(first, 1), fleet.untilStatus(second, 1)])
      const { drift } = managementRoutes.engine
      for (const engineId of [first, second]) {
        expect((await fleet.call(drift, { engine_id: engineId })).response.drift).toEqual([])
      }

      const { channel, engine } = managementRoutes
      const rejected = await fleet.call(engine.delete, { engine_id: second })
      expect(rejected.status).toBe(409)
      await fleet.call(channel.delete, { channel_id: other!.channel_id })
      const ids = async () => (await api.getExports()).channels?.map(({ id }) => String(id))
      await vi.waitFor(async () => expect(await ids()).toEqual([own!.channel_sid]))
      expect(await fleet.getChannel(own!.channel_id)).toMatchObject({ is_verified: true })
      await fleet.untilStatus(first, 1)
    },
    LONG_MS,
  )
})
