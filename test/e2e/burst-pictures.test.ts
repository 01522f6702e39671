// @module-tag long

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { managementRoutes } from '@eyrie/contract/management/index'
import { MAX_PICTURE_OFFSET_MS } from '@eyrie/contract/object'
import { and, asc, eq, gt, isNotNull } from 'drizzle-orm'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createScenePipeline } from '../../appliance/quickstart/quickstart-pipeline.ts'
import { DEMO_LINES } from '../../scene/demo.ts'
import { findCrossings } from '../../scene/truth/derive-truth.ts'
import type { Outline } from '../../scene/truth/scene-truth.ts'
import { event, notification, setting } from '../../services/management/db/schema/index.ts'
import { alertInput } from '../fixtures/management/alert-input.ts'
import { type Fleet, startFleet, startManagedEngine } from '../fixtures/management/fleet.ts'
import { HALF_SIZE, renderTestScene } from '../fixtures/media/rendered-scene.ts'
import { startMediaProcess } from '../fixtures/processes/media-process.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

const LONG_MS = 900_000
const SCENE_S = 12
const FPS = 5
/**
 * The scene is repeated in one file, because pictures are missing for a moment when
 * a file begins again.
 */
const REPETITIONS = 20
const MIN_EVENTS_PER_SECOND = 1.2
/** Each line of the scene twice, a tenth of the picture apart. */
const lines: Outline[] = DEMO_LINES.flatMap(({ name, coords }) => [
  { name, coords },
  { name: `${name} 2`, coords: coords.map(({ x, y }) => ({ x: x + 0.1, y })) },
])

/** What fires each alert, and how many of its notifications are examined. */
const ALERTS = {
  'by an event': {
    alert_threshold_key: 'total',
    alert_threshold_condition: 'gte',
    alert_threshold: '1',
  },
  'by a count': {
    alert_threshold_key: 'occupancy',
    alert_threshold_condition: 'gte',
    alert_threshold: '1',
  },
  // Nothing in the scene changes this statistic.
  'by the clock': {
    ...{ alert_threshold_key: 'fire', alert_threshold_condition: 'lt', alert_threshold: '1' },
    alert_frequency: 2,
  },
}
type AlertName = keyof typeof ALERTS
const COUNTS: Record<AlertName, number> = { 'by an event': 24, 'by a count': 12, 'by the clock': 6 }

/**
 * On a machine without time for anything, notifications are stored when media no longer has the
 * packets of their moment.
 */
const MAX_DELAY_MS = 30_000

/**
 * Returns whether a notification was stored soon after its moment. Its id begins with the time in
 * ms (UUID version 7).
 */
const isPrompt = ({
  notification_uuid: notificationUuid,
  notification_time: notificationTime,
}: typeof notification.$inferSelect) =>
  Number.parseInt(notificationUuid.replace('-', '').slice(0, 12), 16) -
    notificationTime.getTime() <=
  MAX_DELAY_MS

/**
 * Waits for the first prompt notifications of an alert after a time, until none of their
 * pictures is being fetched.
 */
const waitForNotifications = (fleet: Fleet, alertName: AlertName, after: Date) =>
  vi.waitUntil(
    async () => {
      const stored = await fleet.database.system('test', tx =>
        tx
          .select()
          .from(notification)
          .where(
            and(eq(notification.alert_name, alertName), gt(notification.notification_time, after)),
          )
          .orderBy(asc(notification.notification_time)),
      )
      const rows = stored.filter(isPrompt).slice(0, COUNTS[alertName])
      const isComplete =
        rows.length === COUNTS[alertName] && rows.every(row => row.next_snapshot === null)
      return isComplete ? rows : undefined
    },
    { timeout: LONG_MS / 3, interval: 500 },
  )

/** Returns the times of all messages about frames in epoch ms. */
const readMessageTimes = (fleet: Fleet) =>
  fleet.database.system('test', async tx => {
    const rows = await tx.select({ time: event.time }).from(event).where(isNotNull(event.pts))
    return rows.map(({ time }) => time.getTime())
  })

/** The scene as a camera of management, with an alert of each kind. */
async function startScene() {
  const scene = await renderTestScene({ seconds: SCENE_S, fps: FPS, ...HALF_SIZE })
  const crossings = lines.flatMap(line => findCrossings(line, scene.truth.frames))
  expect(crossings.length / SCENE_S).toBeGreaterThan(MIN_EVENTS_PER_SECOND)

  const folder = createTemporaryFolder()
  const video = join(folder, 'scene.mp4')
  const repeat = [
    '-v',
    'error',
    '-stream_loop',
    String(REPETITIONS - 1),
    '-i',
    scene.video,
    '-c',
    'copy',
    video,
  ]
  await promisify(execFile)('ffmpeg', repeat)
  const variables = { EYRIE_MEDIA_ROOTS: folder }
  // An overloaded machine loads pictures late.
  const media = await startMediaProcess(variables, { settings: { media: { snapshot_s: 60 } } })
  onTestFinished(media.stop)
  const fleet = await startFleet()
  const engine = await startManagedEngine({ media, variables })
  const engineId = await fleet.registerEngine({ engine_port: engine.port })
  const stream = { type: 'inf', address: video }
  const { source_id: sourceId } = await fleet.addSource(engineId, stream)
  const elements = createScenePipeline('scene-detector', 0).map(element =>
    element.name === 'line-crossing' ? { ...element, config: { [sourceId]: { lines } } } : element,
  )
  const pipelineId = await fleet.addPipeline(engineId, elements)
  const channelId = await fleet.addChannel(sourceId, pipelineId, { channel_threshold_duration: 2 })
  await fleet.untilVerified(channelId)
  await fleet.database.system('test', tx =>
    tx.insert(setting).values({ name: 'local_engine', value: { engine_id: engineId } }),
  )
  return { media, fleet, engine, channel_id: channelId }
}

describe('every notification of a burst', () => {
  it(
    'has a picture of its moment with the box of what fired it, whether the camera is recorded or not',
    async () => {
      const { media, fleet, engine, channel_id: channelId } = await startScene()
      fleet.backgroundJobs.start(fleet.database)
      onTestFinished(fleet.backgroundJobs.stop)
      // The first event shows that the channel runs: before, the clock fires without a camera.
      await vi.waitUntil(
        () =>
          fleet.database.system('test', async tx => (await tx.select().from(event).limit(1))[0]),
        { timeout: LONG_MS / 3, interval: 500 },
      )
      for (const [alertName, fields] of Object.entries(ALERTS)) {
        const input = alertInput(channelId, {
          alert_name: alertName,
          alert_frequency: 0,
          ...fields,
        })
        expect((await fleet.send(managementRoutes.alert.create, input)).status).toBe(201)
      }

      const [source] = await engine.api.source.list()
      for (const recording of [null, { mode: 'continuous' }] as const) {
        await engine.api.source.modify(source!.id, { recording })
        const after = new Date()
        for (const alertName of Object.keys(ALERTS) as AlertName[]) {
          const rows = await waitForNotifications(fleet, alertName, after)
          const isClock = alertName === 'by the clock'
          // Time alone has no box.
          const missing = rows.filter(
            ({ picture, bbox }) => !picture || (bbox === null) !== isClock,
          )
          // There is no picture of a moment at which an overloaded machine played none.
          const messageTimes = isClock && missing.length > 0 ? await readMessageTimes(fleet) : []
          const hasMessage = (fromMs: number, toMs: number) =>
            messageTimes.some(time => time >= fromMs && time <= toMs)
          const wasPlayed = ({
            notification_time: notificationTime,
          }: {
            notification_time: Date
          }) => {
            const timeMs = notificationTime.getTime()
            const [before, later] = [timeMs - MAX_PICTURE_OFFSET_MS, timeMs + MAX_PICTURE_OFFSET_MS]
            return hasMessage(before, timeMs) && hasMessage(timeMs, later)
          }
          expect(
            isClock ? missing.filter(wasPlayed) : missing,
            `${alertName}, recording ${JSON.stringify(recording)}`,
          ).toEqual([])
          const offsets = rows.map(({ picture_offset }) => Math.abs(picture_offset ?? 0))
          expect(Math.max(...offsets)).toBeLessThanOrEqual(MAX_PICTURE_OFFSET_MS)
        }
      }

      const { response: incidents } = await fleet.call(managementRoutes.incident.list, {
        channel_id: channelId,
      })
      const incident = incidents.find(({ alert_name }) => alert_name === 'by an event')!
      expect(incident).toMatchObject({
        incident_state: 'open',
        image_url: expect.stringContaining('/image?'),
      })
      expect(incident.bbox).not.toBeNull()
      // Management proxies this path to media.
      const clip = await fetch(`${media.url}${incident.clip_url.replace('/live', '')}`)
      expect([clip.status, clip.headers.get('content-type')]).toEqual([200, 'video/mp4'])
      await clip.body?.cancel()
    },
    LONG_MS,
  )
})
