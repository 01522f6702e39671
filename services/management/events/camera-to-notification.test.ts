import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { alertInput } from '../../../test/fixtures/management/alert-input.ts'
import { startFleet, startManagedEngine } from '../../../test/fixtures/management/fleet.ts'
import { serveMedia } from '../../../test/fixtures/media/served-media.ts'
import { SMALL_PICTURE } from '../../../test/fixtures/media/small-picture.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

const { alert, event, notification } = managementRoutes
const LONG_MS = 300_000

/** Every tenth frame contains a crossing. */
const turnstile = `
  let n = 0
  return {
    process() {
      n += 1
      const crossing = { type: 'line-crossing', name: 'door', direction: 'up', track: n }
      return { events: n % 10 === 0 ? [crossing] : [] }
    },
  }`

describe('camera', () => {
  it(
    'produces statistics, and a notification with the picture of the frame that fired the alert',
    async () => {
      const media = await serveMedia()
      const plugins = createTemporaryFolder()
      writePlugin(plugins, { name: 'turnstile', open: turnstile })
      const fleet = await startFleet()
      fleet.backgroundJobs.start(fleet.database)
      onTestFinished(fleet.backgroundJobs.stop)
      const { port } = await startManagedEngine({ media, plugins })
      const engineId = await fleet.registerEngine({ engine_port: port })
      const { source_id: sourceId } = await fleet.addSource(engineId, { address: SMALL_PICTURE })
      const pipelineId = await fleet.addPipeline(engineId, [{ name: 'turnstile' }])
      const channelId = await fleet.addChannel(sourceId, pipelineId, { is_storage: true })
      const busy = {
        alert_threshold: '2',
        alert_threshold_condition: 'gte',
        alert_frequency: 0,
      } as const
      expect((await fleet.send(alert.create, alertInput(channelId, busy))).status).toBe(201)

      const period = { channel_id: channelId, start: '-10m', end: 'now' }
      const gallery = await vi.waitFor(
        async () => {
          const { response } = await fleet.call(notification.gallery, {
            stream_key: 'line-crossing',
            ...period,
          })
          expect(response.gallery).not.toEqual([])
          return response.gallery
        },
        { timeout: LONG_MS, interval: 500 },
      )
      const { image, uuid, time_stamp: timeStamp } = gallery.at(-1)!
      expect(image.slice(0, 2)).toEqual([0xff, 0xd8])

      const details = await fleet.call(notification.get, {
        usecase: 'line-crossing',
        channel_id: channelId,
        notification_uuid: uuid,
      })
      expect(details.response).toMatchObject({
        notification_time: timeStamp,
        notification_data: {
          to: 'ops@example.com',
          subject: 'busy',
          attachment: expect.stringMatching(/^[\da-f]{64}$/),
        },
      })
      const range = await fleet.send(event.range, {
        usecase: 'line-crossing',
        usecase_meta_key: 'up,alert',
        agg_frequency: '1d',
        details: 'true',
        ...period,
      })
      expect(range.response).toMatchObject({
        // Around midnight the period spans two days.
        events: expect.arrayContaining([
          expect.objectContaining({
            up: expect.any(Number),
            metadata: expect.stringContaining('door'),
          }),
        ]),
      })
      const stats = await fleet.call(event.channelStats, {
        usecase: 'line-crossing',
        usecase_meta_key: 'up,alert',
        channel_id: channelId,
        frequency: '-10m',
      })
      const { up, alert: fired } = stats.response.channel_stats
      expect(up).toBeGreaterThanOrEqual(2)
      expect(fired).toBe(stats.response.channel_total_notification)
    },
    LONG_MS,
  )
})
