import { managementRoutes } from '@eyrie/contract/management/index'
import { createLog } from '@eyrie/kit'
import { eq, sql } from 'drizzle-orm'
import { v7 } from 'uuid'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { getInvalidFields } from '../../../../../test/fixtures/management/alert-input.ts'
import { createCalendar } from '../../../../../test/fixtures/management/create-calendar.ts'
import { getCreatedId } from '../../../../../test/fixtures/management/hierarchy.ts'
import {
  insertRecords,
  type ManagementRecords,
} from '../../../../../test/fixtures/management/records.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'
import { extendCalendars } from '../../../calendars/extend-calendars.ts'
import { parseCalendar } from '../../../calendars/parse-calendar.ts'
import { calendar as calendarTable } from '../../../db/schema/index.ts'

const { calendar, scheduleException } = managementRoutes
const now = new Date('2026-11-15T12:00:00Z')
const management = sharedManagement({ now: () => now })

let records: ManagementRecords
beforeEach(async () => {
  records = await insertRecords(management.database)
})

const christmas = createCalendar(
  'DTSTART;VALUE=DATE:20251225\nRRULE:FREQ=YEARLY\nSUMMARY:Christmas',
)
const newYear = createCalendar('DTSTART;VALUE=DATE:20260101\nRRULE:FREQ=YEARLY\nSUMMARY:New Year')

const input = (more: Record<string, unknown> = {}) => ({
  organization_id: records.organization_id,
  calendar_name: 'Holidays',
  calendar_ics: christmas,
  ...more,
})
const create = async (more?: Record<string, unknown>) =>
  getCreatedId(await management.send(calendar.create, input(more)))

describe('calendars', () => {
  it('are created, read with their next events, listed, replaced and deleted', async () => {
    const calendarId = await create()
    const { response } = await management.call(calendar.get, { calendar_id: calendarId })
    expect(response).toMatchObject({
      ...input(),
      site_id: null,
      calendar_event_count: 5,
      calendar_events_until: '2031-11-19T12:00:00.000Z',
    })
    expect(response.calendar_events[0]).toEqual({
      event_start: '2026-12-25',
      event_end: '2026-12-26',
      event_summary: 'Christmas',
    })

    const updated = await management.send(calendar.update, {
      ...response,
      calendar_name: 'New Year',
      calendar_ics: newYear,
    })
    expect(updated.response).toMatchObject({ calendar_id: calendarId, calendar_name: 'New Year' })
    const { organization_id } = records
    const listed = (await management.call(calendar.list, { organization_id })).response
    expect(listed.map(row => row.calendar_name)).toEqual(['New Year', 'calendar'])
    const reread = await management.call(calendar.get, { calendar_id: calendarId })
    expect(reread.response.calendar_events[0]).toMatchObject({ event_start: '2027-01-01' })
    expect((await management.call(calendar.delete, { calendar_id: calendarId })).status).toBe(200)
    expect((await management.call(calendar.get, { calendar_id: calendarId })).status).toBe(404)
  })

  it.each([
    ['no iCalendar file', { calendar_ics: 'hello' }],
    ['an iCalendar file without events', { calendar_ics: createCalendar() }],
    ['more than a megabyte', { calendar_ics: `${christmas}${' '.repeat(1 << 20)}` }],
  ])('reject %s', async (_, more) => {
    const { status, response } = await management.send(calendar.create, input(more))
    expect([status, getInvalidFields(response)]).toEqual([400, ['calendar_ics']])
  })

  it('reject a site of another organization', async () => {
    const { site_id } = await insertRecords(management.database)
    const { status, response } = await management.send(calendar.create, input({ site_id }))
    expect([status, getInvalidFields(response)]).toEqual([400, ['site_id']])
  })

  it('of an organization are read by its managers, and changed by its administrators', async () => {
    const { organization_id: organizationId, customer_id: customerId } = records
    const calendarId = await create()
    const manager = await management.signIn('manager', { customers: [customerId] })
    const admin = await management.signIn('admin', { organization: organizationId })
    expect((await management.call(calendar.get, { calendar_id: calendarId }, manager)).status).toBe(
      200,
    )
    const change = { calendar_id: calendarId, calendar_name: 'New', calendar_ics: newYear }
    const denied = await management.call(calendar.update, change, manager)
    expect([denied.status, denied.message]).toEqual([403, expect.stringContaining('admin')])
    expect((await management.send(calendar.create, input(), manager)).status).toBe(403)
    expect((await management.call(calendar.update, change, admin)).status).toBe(200)
  })

  it('are extended before their known events end, and unreadable ones do not prevent it', {
    tags: 'long',
  }, async () => {
    const calendarId = await create()
    const log = createLog('test', 'silent')
    await extendCalendars(management.database, new Date('2029-11-15T12:00:00Z'), log)
    const read = async () => {
      const rows = await management.database.system('test', tx =>
        tx.select().from(calendarTable).where(eq(calendarTable.calendar_id, calendarId)),
      )
      return rows[0]!
    }
    expect((await read()).calendar_events.at(-1)!.start).toBe('2033-12-25')
    await extendCalendars(management.database, new Date('2029-11-16T12:00:00Z'), log)
    expect((await read()).events_until).toEqual(new Date('2034-11-19T12:00:00Z'))
  })

  it('keep a file that is uploaded while the previous one is extended', async () => {
    const calendarId = await create()
    const isCalendar = eq(calendarTable.calendar_id, calendarId)
    const later = new Date('2029-11-15T12:00:00Z')
    const uploaded = { calendar_ics: newYear, ...(await parseCalendar(newYear, now)) }
    let extension: Promise<void> | undefined
    await management.database.system('test', async tx => {
      await tx.update(calendarTable).set(uploaded).where(isCalendar)
      // Reads the previous file, and waits for this transaction before it stores the occurrences.
      extension = extendCalendars(management.database, later, createLog('test', 'silent'))
      await vi.waitUntil(async () => {
        const waiting = await tx.execute(
          sql`select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`,
        )
        return waiting.length > 0
      }, 30_000)
    })
    await extension
    const stored = await management.database.system('test', tx =>
      tx.select().from(calendarTable).where(isCalendar),
    )
    expect(stored).toMatchObject([uploaded])
  })
})

describe('exceptions of schedules', () => {
  it('let a calendar disarm a schedule by default, and hold the calendar', async () => {
    const { schedule_id } = records
    const calendarId = await create()
    const created = await management.send(scheduleException.create, {
      schedule_id,
      calendar_id: calendarId,
    })
    const exceptionId = getCreatedId(created)
    const { response } = await management.call(scheduleException.get, { exception_id: exceptionId })
    expect(response).toMatchObject({
      schedule_id,
      calendar_id: calendarId,
      exception_type: 'disarm',
    })
    const listed = (await management.call(scheduleException.list, { schedule_id })).response
    expect(listed).toContainEqual(response)

    const again = await management.send(scheduleException.create, {
      schedule_id,
      calendar_id: calendarId,
    })
    expect([again.status, getInvalidFields(again.response)]).toEqual([409, ['calendar_id']])
    const held = await management.call(calendar.delete, { calendar_id: calendarId })
    expect([held.status, held.message]).toEqual([
      409,
      expect.stringContaining('schedule exception'),
    ])
    expect(
      (await management.call(scheduleException.delete, { exception_id: exceptionId })).status,
    ).toBe(200)
    expect((await management.call(calendar.delete, { calendar_id: calendarId })).status).toBe(200)
  })

  it('reject calendars of other sites and organizations', async () => {
    const other = await insertRecords(management.database)
    const { schedule_id } = records
    const { calendar_id } = other
    const { status, response } = await management.send(scheduleException.create, {
      schedule_id,
      calendar_id,
    })
    expect([status, getInvalidFields(response)]).toEqual([400, ['calendar_id']])
    const missing = await management.send(scheduleException.create, {
      schedule_id,
      calendar_id: v7(),
    })
    expect([missing.status, getInvalidFields(missing.response)]).toEqual([404, ['calendar_id']])
  })
})
