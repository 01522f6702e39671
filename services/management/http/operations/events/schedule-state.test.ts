import { managementRoutes } from '@eyrie/contract/management/index'
import { beforeEach, describe, expect, it } from 'vitest'
import { alertInput } from '../../../../../test/fixtures/management/alert-input.ts'
import { createCalendar } from '../../../../../test/fixtures/management/create-calendar.ts'
import {
  createHierarchy,
  getCreatedId,
  type Hierarchy,
} from '../../../../../test/fixtures/management/hierarchy.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'

const { alert, calendar, schedule, scheduleException, site } = managementRoutes
const NOON = new Date('2026-11-20T12:00:00Z')
let now = NOON
const management = sharedManagement({ now: () => now })

let place: Hierarchy
let alertId: string
beforeEach(async () => {
  now = NOON
  place = await createHierarchy(management, crypto.randomUUID())
  alertId = getCreatedId(await management.call(alert.create, alertInput(place.channel_id)))
})

const insertNight = async () =>
  getCreatedId(
    await management.call(schedule.create, {
      alert_id: alertId,
      channel_id: place.channel_id,
      schedule_name: 'Night',
      schedule_type: 'window',
      schedule_occurrence: [{ occurrence_start_time: '22:00', occurrence_end_time: '06:00' }],
    }),
  )

const readState = async (as = management.superadmin) => {
  const { response } = await management.call(schedule.state, { channel_id: place.channel_id }, as)
  return response[0]
}

describe('the state of schedules', () => {
  it('shows that an alert without schedules is armed, enabled or not', async () => {
    expect(await readState()).toEqual({
      alert_id: alertId,
      alert_name: 'Busy',
      is_active: true,
      is_armed: true,
      armed_by: [],
      next_change_at: null,
    })
    await management.call(alert.disable, { alert_id: alertId, channel_id: place.channel_id })
    expect(await readState()).toMatchObject({ is_active: false, is_armed: true })
  })

  it('shows by which schedule an alert is armed in the time zone of the site, and until when', async () => {
    const scheduleId = await insertNight()
    const { response } = await management.call(site.get, { site_id: place.site_id })
    await management.send(site.update, { ...response, site_timezone: 'America/New_York' })
    expect(await readState()).toMatchObject({
      is_armed: false,
      armed_by: [],
      next_change_at: '2026-11-21T03:00:00.000Z',
    })
    now = new Date('2026-11-21T03:00:00Z')
    expect(await readState()).toMatchObject({
      is_armed: true,
      armed_by: [{ schedule_id: scheduleId, schedule_name: 'Night' }],
      next_change_at: '2026-11-21T11:00:00.000Z',
    })
  })

  it('is the same for a viewer who sees the channel, but not the calendars of its site', async () => {
    const scheduleId = await insertNight()
    const calendarId = getCreatedId(
      await management.call(calendar.create, {
        organization_id: place.organization_id,
        site_id: place.site_id,
        calendar_name: 'Holidays',
        calendar_ics: createCalendar('DTSTART;VALUE=DATE:20261120\nDTEND;VALUE=DATE:20261122'),
      }),
    )
    await management.call(scheduleException.create, {
      schedule_id: scheduleId,
      calendar_id: calendarId,
    })
    now = new Date('2026-11-21T03:00:00Z')
    expect(await readState()).toMatchObject({ is_armed: false })
    const viewer = await management.signIn('viewer', { customers: [place.customer_id] })
    expect(await readState(viewer)).toEqual(await readState())
  })

  it('ignores disabled schedules', async () => {
    const scheduleId = await insertNight()
    expect(await readState()).toMatchObject({ is_armed: false })
    const disabled = await management.call(schedule.disable, { schedule_id: scheduleId })
    expect(disabled.response).toMatchObject({ schedule_id: scheduleId, is_active: false })
    expect(await readState()).toMatchObject({ is_armed: true })
    await management.call(schedule.enable, { schedule_id: scheduleId })
    expect(await readState()).toMatchObject({ is_armed: false })
  })
})
