import { managementRoutes } from '@eyrie/contract/management/index'
import { MAX_PICTURE_OFFSET_MS } from '@eyrie/contract/object'
import { asc, eq } from 'drizzle-orm'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { writePlugin } from '../../../../test/fixtures/engine/test-plugin.ts'
import { alertInput } from '../../../../test/fixtures/management/alert-input.ts'
import { type Fleet, startFleet, startManagedEngine } from '../../../../test/fixtures/management/fleet.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { notification } from '../../db/schema/index.ts'

const LONG_MS = 300_000
const BOX = { x: 0.25, y: 0.25, w: 0.5, h: 0.5 }
const FPS = 5
const MIN_VISITORS = 12

/** Visitors enter for five seconds, and then nothing happens for as long. */
const busyAndQuiet = `
  return {
    process({ n }) {
      const isQuiet = Math.floor(n / ${5 * FPS}) % 2 === 1
      if (isQuiet || n % 2 !== 0) return {}
      const visitor = { type: 'line-crossing', name: 'door', direction: 'up', track: n, bbox: ${JSON.stringify(BOX)} }
      return { events: [visitor] }
    },
  }`

/** Waits for the first notifications of an alert, until none of their pictures is being fetched. */
const waitForNotifications = (fleet: Fleet, alert_name: string, count: number) =>
  vi.waitUntil(
    async () => {
      const rows = await fleet.database.system('test', tx =>
        tx
          .select()
          .from(notification)
          .where(eq(notification.alert_name, alert_name))
          .orderBy(asc(notification.notification_time))
          .limit(count),
      )
      const isComplete = rows.length === count && rows.every(row => row.next_snapshot === null)
      return isComplete ? rows : undefined
    },
    { timeout: LONG_MS / 3, interval: 500 },
  )

describe('every notification', () => {
  it.each([null, { mode: 'continuous' }] as const)(
    'has a picture of its moment, fired by an event or by the clock, with recording %j',
    async recording => {
      // An overloaded machine loads pictures late.
      const media = await serveMedia({ settings: { media: { snapshot_s: 60 } } })
      const plugins = createTemporaryFolder()
      writePlugin(plugins, { name: 'visitors', open: busyAndQuiet })
      const fleet = await startFleet()
      fleet.jobs.start(fleet.database)
      onTestFinished(fleet.jobs.stop)
      const engine = await startManagedEngine({ media, plugins })
      const engine_id = await fleet.registerEngine({ engine_port: engine.port })
      const stream = { address: 'test://ball', fps: { output: FPS } }
      const { source_id } = await fleet.addSource(engine_id, stream)
      const pipeline_id = await fleet.addPipeline(engine_id, [{ name: 'visitors' }])
      const channel_id = await fleet.addChannel(source_id, pipeline_id, { channel_threshold_duration: 3 })
      await fleet.untilVerified(channel_id)
      const [source] = await engine.api.source.list()
      await engine.api.source.modify(source!.id, { recording })
      const { create } = managementRoutes.alert
      const addAlert = async (alert: Parameters<typeof alertInput>[1]) =>
        expect((await fleet.send(create, alertInput(channel_id, alert))).status).toBe(201)
      const threshold = { alert_threshold: '1', alert_frequency: 0 }
      await addAlert({ alert_name: 'Visitor', alert_threshold_condition: 'gte', ...threshold })
      const visitors = await waitForNotifications(fleet, 'Visitor', MIN_VISITORS)
      // Not earlier: the clock may fire it for a moment before the first picture of the camera.
      await addAlert({ alert_name: 'Quiet', alert_threshold_condition: 'lt', ...threshold })
      const quiet = await waitForNotifications(fleet, 'Quiet', 2)
      for (const { picture, picture_offset } of [...visitors, ...quiet]) {
        expect(picture).toMatch(/^[\da-f]{64}$/)
        expect(Math.abs(picture_offset!)).toBeLessThanOrEqual(MAX_PICTURE_OFFSET_MS)
      }
      for (const { bbox } of visitors) expect(bbox).toEqual(BOX)
      for (const { bbox } of quiet) expect(bbox).toBeNull()
    },
    LONG_MS,
  )
})
