import { managementRoutes } from '@eyrie/contract/management/index'
import type { Log } from '@eyrie/kit'
import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { startFleet, startManagedEngine } from '../../../../test/fixtures/management/fleet.ts'
import { SMALL_PICTURE } from '../../../../test/fixtures/media/small-picture.ts'
import { engineState } from '../../db/schema/index.ts'

const LONG_MS = 400_000
const NEVER_MS = 2 ** 31 - 1
const { engine: engines, channel } = managementRoutes

async function startWithChannel({ lookMs, log }: { lookMs: number; log?: Log }) {
  const fleet = await startFleet({
    timing: { sampleMs: NEVER_MS, reconcileMs: NEVER_MS, configurationPollMs: lookMs },
    ...(log && { log }),
  })
  const { api, port } = await startManagedEngine()
  const engineId = await fleet.registerEngine({ engine_port: port })
  const { source_id: sourceId } = await fleet.addSource(engineId, { address: SMALL_PICTURE })
  const pipelineId = await fleet.addPipeline(engineId, [{ name: 'motion' }])
  const channelId = await fleet.addChannel(sourceId, pipelineId)
  await fleet.untilVerified(channelId)
  return { fleet, api, engine_id: engineId, source_id: sourceId, channel_id: channelId }
}

describe('engine monitoring', () => {
  it(
    'returns the current drift of an engine on request',
    async () => {
      const { fleet, api, engine_id } = await startWithChannel({ lookMs: NEVER_MS })
      const drift = async () => (await fleet.call(engines.drift, { engine_id })).response.drift
      expect(await drift()).toEqual([])
      const [current] = await api.source.list()
      for (const rate of [2, 3]) {
        await api.source.modify(current!.id, { rate })
        expect(await drift()).toMatchObject([{ record: 'source', field: 'rate', found: rate }])
      }
      await api.source.modify(current!.id, { rate: null })
      const both = await Promise.all([drift(), drift()])
      expect(both).toEqual([[], []])
    },
    LONG_MS,
  )

  it(
    'updates the time of the last contact and restores objects that were removed on the engine',
    async () => {
      const { fleet, api, channel_id: channelId } = await startWithChannel({ lookMs: 200 })
      const readLastContact = async () => {
        const [state] = await fleet.database.system('test', tx => tx.select().from(engineState))
        return state!.seen_at!
      }
      const before = await readLastContact()
      await vi.waitFor(async () => expect(await readLastContact()).not.toEqual(before))
      const [current] = await api.pipeline.list()
      await api.pipeline.remove(current!.id, { force: true })
      await vi.waitFor(async () => {
        const [created] = await api.pipeline.list()
        expect(created!.id).toBeGreaterThan(current!.id)
        expect(await fleet.getChannel(channelId)).toMatchObject({ is_verified: true })
      })
    },
    LONG_MS,
  )

  it('stays connected while channels are deleted during a reconciliation', {
    tags: 'long',
    timeout: LONG_MS,
  }, async () => {
    const errors: unknown[] = []
    const log = pino({ level: 'error' }, { write: line => errors.push(JSON.parse(line)) })
    const {
      fleet,
      engine_id: engineId,
      source_id: sourceId,
    } = await startWithChannel({ lookMs: NEVER_MS, log })
    for (let time = 0; time < 20; time += 1) {
      const pipelineId = await fleet.addPipeline(engineId, [{ name: 'motion' }])
      const channelId = await fleet.addChannel(sourceId, pipelineId)
      await Promise.all([
        fleet.call(engines.drift, { engine_id: engineId }),
        fleet.call(engines.drift, { engine_id: engineId }),
        fleet.call(channel.delete, { channel_id: channelId }),
      ])
    }
    expect(await fleet.call(engines.drift, { engine_id: engineId })).toMatchObject({
      response: { drift: [] },
    })
    expect(errors).toEqual([])
  })
})
