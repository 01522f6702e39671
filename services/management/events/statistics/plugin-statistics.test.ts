import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { writePlugin } from '../../../../test/fixtures/engine/test-plugin.ts'
import { getInvalidFields } from '../../../../test/fixtures/management/alert-input.ts'
import { startFleet, startManagedEngine } from '../../../../test/fixtures/management/fleet.ts'
import { getCreatedId } from '../../../../test/fixtures/management/hierarchy.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { SMALL_PICTURE } from '../../../../test/fixtures/media/small-picture.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'

const LONG_MS = 400_000
const { alert, event, usecase } = managementRoutes

const queueUsecase = {
  key: 'queue',
  name: 'Queue',
  meta_keys: [
    'waiting',
    { key: 'served', aggregation: 'sum' },
    { key: 'wait_time', aggregation: 'mean' },
  ],
}

/**
 * Code of a plugin: with every frame a person is served after four seconds, and three people wait.
 */
const open = `
  let served = 0
  return {
    process() {
      served += 1
      return {
        events: [{ type: 'served', wait_time: 4 }],
        counters: { desk: { served, waiting: 2 }, till: { waiting: 1 } },
      }
    },
  }`

describe('plugin statistics', () => {
  it(
    'are returned by the API and follow the newest version of the plugin',
    async () => {
      const media = await serveMedia()
      const plugins = createTemporaryFolder()
      writePlugin(plugins, {
        name: 'queue',
        element: { output_schema: { 'x-usecase': queueUsecase } },
        open,
      })
      const fleet = await startFleet()
      onTestFinished(() => fleet.fleet.stop())
      const engine = await startManagedEngine({ plugins, media })
      const engineId = await fleet.registerEngine({ engine_port: engine.port })
      await fleet.untilStatus(engineId, 1)
      const readUsecase = async () =>
        (await fleet.call(usecase.list)).response.find(({ usecase_key }) => usecase_key === 'queue')
      expect(await readUsecase()).toMatchObject({
        usecase_meta_key: ['waiting', 'served', 'wait_time'],
      })

      const { source_id: sourceId } = await fleet.addSource(engineId, { address: SMALL_PICTURE })
      const pipelineId = await fleet.addPipeline(engineId, [{ name: 'queue' }])
      const channelId = await fleet.addChannel(sourceId, pipelineId, { usecase_key: 'queue' })
      const query = { usecase: 'queue', usecase_meta_key: 'waiting,served,wait_time' }
      const stats = await vi.waitFor(async () => {
        const { response } = await fleet.call(event.channelStats, {
          ...query,
          channel_id: channelId,
        })
        expect(response.channel_stats).toMatchObject({
          waiting: 3,
          wait_time: 4,
          served: expect.any(Number),
        })
        expect(response.channel_stats.served).toBeGreaterThan(10)
        return response.channel_stats
      })
      const { response: byQuery } = await fleet.call(event.usecaseStatsByQuery, query)
      expect(byQuery.usecase_total_stats).toMatchObject({ waiting: 3, waittime: 4 })
      expect(byQuery.usecase_total_stats).not.toHaveProperty('up')
      expect(byQuery.usecase_total_stats.served).toBeGreaterThanOrEqual(Number(stats.served))
      const { response: report } = await fleet.call(event.usecaseReport, {
        channel_id: channelId,
        details: true,
        start_date: '-1h',
        end_date: 'now',
        usecase_key: 'queue',
      })
      expect(report.channel_stats).toMatchObject({ waiting: 3, wait_time: 4 })
      const range = {
        ...query,
        channel_id: channelId,
        start: '-1h',
        end: 'now',
        agg_frequency: '1h',
      }
      const { response: ranged } = await fleet.call(event.range, range)
      expect(ranged.events.at(-1)).toMatchObject({ waiting: 3, wait_time: 4 })

      const alertFields = {
        channel_id: channelId,
        alert_name: 'Long',
        alert_priority: 'low',
        alert_frequency: 3600,
        alert_actions: [],
        alert_threshold: '3',
        alert_threshold_condition: 'gte',
        alert_threshold_key: 'wait_time',
      }
      const alertId = getCreatedId(await fleet.send(alert.create, alertFields))
      await vi.waitFor(async () => {
        const { response } = await fleet.call(event.channelStats, {
          ...query,
          channel_id: channelId,
        })
        expect(response.channel_alert).toMatchObject([{ key: 'wait_time', name: 'Long', count: 1 }])
      })
      await fleet.send(alert.disable, { alert_id: alertId, channel_id: channelId })

      const rejected = await fleet.send(event.channelStats, {
        ...query,
        channel_id: channelId,
        usecase_meta_key: 'up,left',
      })
      expect([rejected.status, getInvalidFields(rejected.response)]).toEqual([
        400,
        ['usecase_meta_key.1'],
      ])
      const unknown = await fleet.send(alert.create, {
        ...alertFields,
        alert_threshold_key: 'left',
      })
      expect([unknown.status, getInvalidFields(unknown.response)]).toEqual([
        400,
        ['alert_threshold_key'],
      ])

      await engine.kill()
      const newer = { ...queueUsecase, meta_keys: [...queueUsecase.meta_keys, 'left'] }
      writePlugin(plugins, {
        name: 'queue',
        element: { output_schema: { 'x-usecase': newer } },
        open,
      })
      await startManagedEngine({
        plugins,
        media,
        data: engine.data,
        variables: { EYRIE_ENGINE_PORT: String(engine.port) },
      })
      await vi.waitFor(async () =>
        expect(await readUsecase()).toMatchObject({
          usecase_meta_key: ['waiting', 'served', 'wait_time', 'left'],
        }),
      )
      const again = await fleet.call(event.channelStats, {
        ...query,
        channel_id: channelId,
        usecase_meta_key: 'left',
      })
      expect(again).toMatchObject({ status: 200, response: { channel_stats: { left: 0 } } })
    },
    LONG_MS,
  )
})
