import { managementRoutes } from '@eyrie/contract/management/index'
import { createLog } from '@eyrie/kit'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  createMessageFactory,
  type InsertedEngine,
  insertChannel,
  insertEngine,
} from '../../../test/fixtures/management/engine-messages.ts'
import { getCreatedId } from '../../../test/fixtures/management/hierarchy.ts'
import { sharedManagement } from '../../../test/fixtures/management/shared-management.ts'
import { startSchedulerProcess } from '../../../test/fixtures/scheduler/run-scheduler.ts'
import { serveSchedulerApi } from '../../../test/fixtures/scheduler/scheduler-api.ts'
import { alertSubscriber } from '../../management/alerts/evaluate-messages.ts'
import { alertArming, notification } from '../../management/db/schema/index.ts'
import { createIngest } from '../../management/events/ingest/ingest.ts'

const { alert, schedule } = managementRoutes
const management = sharedManagement()
const hourMs = 3_600_000

let engine: InsertedEngine
let channelId: string
let alertId: string
beforeEach(async () => {
  engine = await insertEngine(management.database)
  channelId = await insertChannel(management.database, engine, 'line-crossing', { channel_sid: 1 })
  alertId = getCreatedId(
    await management.call(alert.create, {
      alert_name: 'Crossing',
      alert_priority: 'high',
      alert_threshold: '0',
      alert_threshold_condition: 'gt',
      alert_threshold_key: 'total',
      alert_frequency: 0,
      alert_actions: [],
      channel_id: channelId,
    }),
  )
})

async function start(port = 0) {
  const api = await serveSchedulerApi(management, port)
  onTestFinished(() => api.close())
  const scheduler = await startSchedulerProcess(api.url)
  onTestFinished(() => scheduler.stop())
  return { api, scheduler }
}

const createWindow = (from: number, to: number) => ({
  alert_id: alertId,
  channel_id: channelId,
  schedule_name: 'Window',
  schedule_type: 'window' as const,
  schedule_occurrence: [
    {
      occurrence_start_time: new Date(from).toISOString(),
      occurrence_end_time: new Date(to).toISOString(),
    },
  ],
})

const readStored = async () => {
  const rows = await management.database.system('test', tx =>
    tx.select().from(alertArming).where(eq(alertArming.alert_id, alertId)),
  )
  return rows[0]
}
const waitForArmed = (isArmed: boolean) =>
  vi.waitUntil(async () => {
    const stored = await readStored()
    return stored?.is_armed === isArmed ? stored : undefined
  })

describe('the scheduler', () => {
  it('arms an alert when its window starts, which fires inside and not outside of it', async () => {
    const ingest = createIngest({
      database: management.database,
      subscribers: [alertSubscriber],
      log: createLog('test', 'silent'),
    })
    const { hello, crossing } = createMessageFactory()
    const cross = async () => {
      const time = Date.now()
      await ingest.consume(engine.engine_id, [crossing(1, time)])
      return time
    }
    const readFired = async () => {
      const rows = await management.database.system('test', tx =>
        tx.select().from(notification).where(eq(notification.alert_id, alertId)),
      )
      return rows.map(({ notification_time }) => notification_time.getTime())
    }
    await ingest.consume(engine.engine_id, [hello()])
    const from = Date.now() + 5_000
    const scheduleId = getCreatedId(
      await management.call(schedule.create, createWindow(from, from + hourMs)),
    )
    await cross()
    await start()
    const armed = await waitForArmed(true)
    expect(armed).toMatchObject({
      schedule_ids: [scheduleId],
      next_change_at: new Date(from + hourMs),
    })
    expect(armed.valid_from.getTime()).toBeGreaterThanOrEqual(from)
    const inside = await cross()
    expect(await readFired()).toEqual([inside])

    await management.call(schedule.update, {
      ...createWindow(from + hourMs, from + 2 * hourMs),
      schedule_id: scheduleId,
    })
    await waitForArmed(false)
    await cross()
    expect(await readFired()).toEqual([inside])
  })

  it('sets the state that holds now after downtime', async () => {
    const now = Date.now()
    await management.call(schedule.create, createWindow(now - hourMs, now + hourMs))
    const { api, scheduler } = await start()
    await waitForArmed(true)
    await scheduler.stop()
    const schedules = (await management.call(schedule.list, { channel_id: channelId })).response
    await management.call(schedule.update, {
      ...createWindow(now - 2 * hourMs, now - hourMs),
      schedule_id: schedules[0]!.schedule_id,
    })
    expect(await readStored()).toBeUndefined()
    const second = await startSchedulerProcess(api.url)
    onTestFinished(() => second.stop())
    const stored = await waitForArmed(false)
    expect(stored.next_change_at).toBeNull()
  })

  it('continues after management was unreachable', async () => {
    const { api, scheduler } = await start()
    await api.close()
    const now = Date.now()
    await management.call(schedule.create, createWindow(now - hourMs, now + hourMs))
    const second = await serveSchedulerApi(management, Number(new URL(api.url).port))
    onTestFinished(() => second.close())
    await waitForArmed(true)
    expect(scheduler.lines.join('\n')).not.toContain('"level":"error"')
  })
})
