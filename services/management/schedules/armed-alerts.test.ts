import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import type { ArmedAlertState } from '@eyrie/contract/management/schedule-rules'
import { eq } from 'drizzle-orm'
import { v7 } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import { createMessageFactory } from '../../../test/fixtures/management/engine-messages.ts'
import { useIngestDatabase } from '../../../test/fixtures/management/ingest-database.ts'
import { evaluateByTime } from '../alerts/evaluate-by-time.ts'
import type { Transaction } from '../db/database.ts'
import {
  alert,
  alertArming,
  calendar,
  schedule,
  scheduleException,
  site,
} from '../db/schema/index.ts'
import { loadArmedAlerts, renewArmedStates, storeArmedStates } from './armed-alerts.ts'

const noon = Date.parse('2026-03-04T12:00:00Z')
const second = 1000
const hour = 3_600_000

const fixture = useIngestDatabase()
const inTransaction = <T>(work: (tx: Transaction) => Promise<T>) =>
  fixture.database.system('test', work)

let alertId: string
beforeEach(async () => {
  alertId = await insertAlert({})
})

async function insertAlert(fields: Partial<typeof alert.$inferInsert>): Promise<string> {
  const [row] = await inTransaction(tx =>
    tx
      .insert(alert)
      .values({
        channel_id: fixture.channel_id,
        alert_name: 'Crossing',
        alert_priority: 'low',
        alert_actions: [],
        alert_threshold: '0',
        alert_threshold_condition: 'gt',
        alert_threshold_key: 'up',
        alert_frequency: 0,
        ...fields,
      })
      .returning(),
  )
  return row!.alert_id
}

async function insertWindow(start: string, end: string, id = alertId): Promise<string> {
  const occurrence = {
    occurrence_id: 1,
    occurrence_activate_cron: '',
    occurrence_deactivate_cron: '',
    occurrence_constraint: '',
    occurrence_start_time: start,
    occurrence_end_time: end,
    occurrence_is_allday: false,
  }
  const [row] = await inTransaction(tx =>
    tx
      .insert(schedule)
      .values({
        alert_id: id,
        channel_id: fixture.channel_id,
        schedule_name: 'Window',
        schedule_type: 'window',
        schedule_occurrence: [occurrence],
      })
      .returning(),
  )
  return row!.schedule_id
}

async function insertHolidays(scheduleId: string, events: { start: string; end: string }[]) {
  const calendarId = v7()
  const { organization_id } = fixture.engine
  await inTransaction(async tx => {
    await tx.insert(calendar).values({
      calendar_id: calendarId,
      organization_id,
      calendar_name: 'Holidays',
      calendar_ics: '',
      calendar_events: events.map(event => ({ ...event, summary: '' })),
      events_until: new Date(),
    })
    await tx
      .insert(scheduleException)
      .values({ schedule_id: scheduleId, calendar_id: calendarId, exception_type: 'disarm' })
  })
  return calendarId
}

const isArmedAt = (...times: number[]) =>
  inTransaction(async tx => {
    const period = { from: Math.min(...times), to: Math.max(...times) }
    const armed = await loadArmedAlerts(tx, [alertId], period)
    return times.map(time => armed.isArmedAt(alertId, time))
  })

const createState = (isArmed: boolean, from: number, until: number): ArmedAlertState => ({
  alert_id: alertId,
  is_armed: isArmed,
  schedule_ids: [],
  valid_from: new Date(from).toISOString(),
  valid_until: new Date(until).toISOString(),
  next_change_at: null,
})
const store = (...states: ArmedAlertState[]) => inTransaction(tx => storeArmedStates(tx, states))
const readStored = () =>
  inTransaction(tx => tx.select().from(alertArming).where(eq(alertArming.alert_id, alertId)))

describe('armed alerts', () => {
  it('are all alerts without active schedules', async () => {
    expect(await isArmedAt(noon)).toEqual([true])
    const scheduleId = await insertWindow('22:00', '06:00')
    expect(await isArmedAt(noon)).toEqual([false])
    await inTransaction(tx =>
      tx.update(schedule).set({ is_active: false }).where(eq(schedule.schedule_id, scheduleId)),
    )
    expect(await isArmedAt(noon)).toEqual([true])
  })

  it('follow the stored state while it is valid, and the schedules at other times', async () => {
    await insertWindow('22:00', '06:00')
    await store(createState(true, noon, noon + hour))
    expect(await isArmedAt(noon, noon + hour - 1)).toEqual([true, true])
    expect(await isArmedAt(noon - 1)).toEqual([false])
    expect(await isArmedAt(noon + hour)).toEqual([false])
    expect(await isArmedAt(noon, noon + 11 * hour)).toEqual([false, true])
  })

  it('follow the time zone of the site, exceptions, and each change of them, at once', async () => {
    const scheduleId = await insertWindow('11:00', '13:00')
    const stored = () => store(createState(false, noon - hour, noon + hour))
    await stored()
    const calendarId = await insertHolidays(scheduleId, [
      { start: '2026-03-04', end: '2026-03-05' },
    ])
    expect(await readStored()).toEqual([])
    expect(await isArmedAt(noon)).toEqual([false])

    await stored()
    await inTransaction(tx =>
      tx.update(calendar).set({ calendar_events: [] }).where(eq(calendar.calendar_id, calendarId)),
    )
    expect(await isArmedAt(noon)).toEqual([true])

    await store(createState(true, noon - hour, noon + hour))
    const { site_id: siteId } = fixture.engine
    await inTransaction(tx =>
      tx.update(site).set({ site_timezone: 'Asia/Tokyo' }).where(eq(site.site_id, siteId)),
    )
    expect(await isArmedAt(noon)).toEqual([false])

    await stored()
    await inTransaction(tx => tx.delete(schedule).where(eq(schedule.schedule_id, scheduleId)))
    expect(await readStored()).toEqual([])
    expect(await isArmedAt(noon)).toEqual([true])
  })

  it('are renewed without interruption, and not for alerts that were deleted', async () => {
    await insertWindow('11:00', '13:00')
    await store(createState(true, noon, noon + hour))
    await store(createState(true, noon + hour / 2, noon + 2 * hour))
    expect((await readStored())[0]!.valid_from).toEqual(new Date(noon))
    await store(createState(false, noon + 2 * hour, noon + 3 * hour))
    expect((await readStored())[0]!.valid_from).toEqual(new Date(noon + 2 * hour))
    await store({ ...createState(true, noon, noon + hour), alert_id: v7() })
  })

  it('are computed by management when the scheduler has not stored them in time', async () => {
    const scheduleId = await insertWindow('11:00', '13:00')
    await renewArmedStates(fixture.database, noon)
    expect(await readStored()).toMatchObject([
      {
        is_armed: true,
        schedule_ids: [scheduleId],
        valid_until: new Date(noon + hour),
        next_change_at: new Date(noon + hour),
      },
    ])
    await renewArmedStates(fixture.database, noon + hour - 1)
    expect(await readStored()).toMatchObject([{ is_armed: true, valid_from: new Date(noon) }])
    await renewArmedStates(fixture.database, noon + hour)
    expect(await readStored()).toMatchObject([
      { is_armed: false, valid_from: new Date(noon + hour) },
    ])
  })
})

describe('the evaluation of alerts with schedules', () => {
  const readFired = async () => {
    const rows = await fixture.readNotifications()
    return rows.map(({ notification_time }) => (notification_time.getTime() - noon) / second)
  }
  /** Evaluation waits two seconds for late messages. */
  const evaluateAt = (seconds: number) =>
    evaluateByTime(fixture.database, noon + (seconds + 2) * second)

  it('fires by messages inside a window and not outside, whenever they arrive', async () => {
    await insertWindow('12:00', '12:01')
    const { hello, crossing } = createMessageFactory()
    const at = (seconds: number) => crossing(1, noon + seconds * second)
    // Its state is stored for a later time.
    await store(createState(false, noon + hour, noon + 2 * hour))
    await fixture.consume([hello(), at(-1), at(0), at(59), at(60), at(61)])
    expect(await readFired()).toEqual([0, 59])
  })

  it('fires once when an alert is armed whose condition holds already', async () => {
    await inTransaction(tx => tx.delete(alert).where(eq(alert.alert_id, alertId)))
    alertId = await insertAlert({ alert_threshold: '1', alert_threshold_condition: 'lt' })
    await insertWindow('12:00', '12:05')
    await insertWindow('12:10', '12:15')
    await fixture.setStatus(ENGINE_STATUS.online)
    for (const time of [-10, 0, 1, 30, 299, 300, 400, 599, 600, 601, 900]) await evaluateAt(time)
    expect(await readFired()).toEqual([0, 600])
  })

  it('fires again after a pause in which the engine was offline', async () => {
    await inTransaction(tx => tx.delete(alert).where(eq(alert.alert_id, alertId)))
    alertId = await insertAlert({ alert_threshold: '1', alert_threshold_condition: 'lt' })
    await insertWindow('12:00', '12:05')
    await insertWindow('12:10', '12:15')
    await fixture.setStatus(ENGINE_STATUS.online)
    await evaluateAt(0)
    await store(createState(false, noon + 300 * second, noon + 600 * second))
    await store(createState(true, noon + 600 * second, noon + 900 * second))
    await evaluateAt(601)
    expect(await readFired()).toEqual([0, 601])
  })

  it('does not depend on schedules of other alerts', async () => {
    const other = await insertAlert({ alert_name: 'Other' })
    await insertWindow('22:00', '23:00', other)
    const { hello, crossing } = createMessageFactory()
    await fixture.consume([hello(), crossing(1, noon)])
    expect((await fixture.readNotifications()).map(row => row.alert_id)).toEqual([alertId])
  })
})
