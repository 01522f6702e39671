import { managementRoutes } from '@eyrie/contract/management/index'
import type { ReportSchedule } from '@eyrie/contract/management/report-schedule'
import { createLog } from '@eyrie/kit'
import { parse } from 'csv-parse/sync'
import { eq } from 'drizzle-orm'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createMessageFactory,
  insertChannel,
  insertEngine,
} from '../../../../test/fixtures/management/engine-messages.ts'
import { setStoredUntil } from '../../../../test/fixtures/management/ingest-database.ts'
import type { InputOf, SignedInUser } from '../../../../test/fixtures/management/management.ts'
import { sharedManagement } from '../../../../test/fixtures/management/shared-management.ts'
import {
  delivery,
  report,
  reportSchedule,
  site,
  usecase,
  user,
  userUsecase,
} from '../../db/schema/index.ts'
import { toTimestamp } from '../../db/sql-values.ts'
import { readReportFile } from '../../deliveries/report-files.ts'
import { createIngest } from '../../events/ingest/ingest.ts'
import { sendDueReports } from './send-reports.ts'

const routes = managementRoutes.reportSchedule
let now = Date.parse('2026-03-04T12:00:00Z')
const management = sharedManagement({ now: () => new Date(now) })
const { signal } = new AbortController()
/** When the service was started. */
let startedAt: number
let engineId: string
let siteId: string
let gate: string
let manager: SignedInUser

beforeAll(async () => {
  const engine = await insertEngine(management.database)
  engineId = engine.engine_id
  siteId = engine.site_id
  await system(tx =>
    tx.update(site).set({ site_timezone: 'Europe/Berlin' }).where(eq(site.site_id, siteId)),
  )
  gate = await insertChannel(management.database, engine, 'line-crossing', {
    channel_sid: 1,
    channel_name: 'Gate',
  })
  await insertChannel(management.database, engine, 'occupancy', {
    channel_sid: 2,
    channel_name: 'Hall',
  })
  const { hello, crossing } = createMessageFactory()
  const ingest = createIngest({
    database: management.database,
    subscribers: [],
    log: createLog('test', 'silent'),
  })
  await ingest.consume(engine.engine_id, [
    hello(),
    crossing(1, Date.parse('2026-03-04T10:00:00Z')),
    // 5 March in Berlin.
    crossing(1, Date.parse('2026-03-04T23:30:00Z')),
    crossing(1, Date.parse('2026-03-05T10:00:00Z')),
  ])
})

beforeEach(async () => {
  now = Date.parse('2026-03-04T12:00:00Z')
  startedAt = now
  await storeOutputUntil('2026-04-01T00:00:00Z')
  await system(tx => tx.delete(reportSchedule))
  manager = await management.signIn('manager', { sites: [siteId] })
})

const system = <T>(work: Parameters<typeof management.database.system<T>>[1]) =>
  management.database.system('test', work)

async function create(
  more: Partial<InputOf<typeof routes.create>> = {},
  as = manager,
): Promise<string> {
  const input: InputOf<typeof routes.create> = {
    report_name: 'Visitors',
    site_id: siteId,
    report_every: 'day',
    report_to: ['a@example.com', 'b@example.com'],
    report_format: 'csv',
    ...more,
  }
  const { headers } = await management.call(routes.create, input, as)
  return headers.get('location')!.split('=')[1]!
}

const read = async (reportScheduleId: string): Promise<ReportSchedule> =>
  (await management.call(routes.get, { report_schedule_id: reportScheduleId }, manager)).response

async function sendAt(time: string) {
  now = Date.parse(time)
  return sendDueReports(management.database, { now, startedAt, signal })
}

const storeOutputUntil = (time: string) =>
  system(tx => setStoredUntil(tx, engineId, toTimestamp(new Date(time))))

const listDeliveries = () => system(tx => tx.select().from(delivery).orderBy(delivery.created_at))

/** The rows of the file that the deliveries of a schedule have. */
async function readRows(reportId: string): Promise<Record<string, string>[]> {
  const file = await system(tx => readReportFile(tx, reportId))
  return parse(file!.content.toString(), { columns: true, bom: true })
}

const NONE = { sent: 0, failed: [], waiting: [] }

describe('a scheduled report', () => {
  it('is stored once for each period of the site, with an e-mail to each receiver that has the file', async () => {
    const reportScheduleId = await create({ channel_ids: [gate] })
    expect(await read(reportScheduleId)).toMatchObject({
      last_day: '2026-03-03',
      next_report_at: '2026-03-05T06:00:00.000Z',
      saved_by: manager.email,
    })
    expect(await sendAt('2026-03-05T05:59:59Z')).toEqual(NONE)
    expect(await sendAt('2026-03-05T06:00:00Z')).toEqual({ ...NONE, sent: 1 })
    expect(await sendAt('2026-03-05T06:00:01Z')).toEqual(NONE)

    const deliveries = await listDeliveries()
    expect(deliveries.map(({ recipient }) => recipient).toSorted()).toEqual([
      'a@example.com',
      'b@example.com',
    ])
    const [{ request, report_id: reportId }] = deliveries as [(typeof deliveries)[number]]
    expect(request).toMatchObject({
      subject: 'Visitors: 2026-03-04',
      message: expect.stringMatching(/Berlin\)\n\n[^\n]*Gate\nUp: 1\n/),
      report: {
        file_name: 'Visitors-2026-03-04-2026-03-04.csv',
        media_type: 'text/csv; charset=utf-8',
      },
      digest: true,
    })
    expect(await readRows(reportId!)).toEqual([
      expect.objectContaining({ first_day: '2026-03-04', channel: 'Gate', up: '1' }),
    ])
    expect(await read(reportScheduleId)).toMatchObject({
      last_day: '2026-03-04',
      report_problem: '',
    })
  })

  it('is stored once if several processes do so at the same moment', async () => {
    await create({ report_to: ['a@example.com'] })
    const runs = Array.from({ length: 4 }, () => sendAt('2026-03-06T06:00:00Z'))
    await Promise.all(runs)
    const subjects = (await listDeliveries()).map(({ request }) => request.subject)
    expect(subjects.toSorted()).toEqual(['Visitors: 2026-03-04', 'Visitors: 2026-03-05'])
  })

  it('follows for periods in which the appliance was off', async () => {
    const reportScheduleId = await create({ report_to: ['a@example.com'], channel_ids: [gate] })
    expect(await sendAt('2026-03-07T12:00:00Z')).toMatchObject({ sent: 3 })
    const rows = await Promise.all(
      (await listDeliveries()).map(({ report_id }) => readRows(report_id!)),
    )
    expect(rows.flat().map(({ first_day, up }) => [first_day, up])).toEqual([
      ['2026-03-04', '1'],
      ['2026-03-05', '2'],
      ['2026-03-06', '0'],
    ])
    expect(await read(reportScheduleId)).toMatchObject({ last_day: '2026-03-06' })
  })

  it('waits for the events that an engine has not sent yet, which belong to the period', async () => {
    await create({ channel_ids: [gate] })
    await storeOutputUntil('2026-03-04T22:59:59Z')
    const waiting = { ...NONE, waiting: ['Visitors'] }
    expect(await sendAt('2026-03-05T06:00:00Z')).toEqual(waiting)
    // After a restart, it waits anew.
    startedAt = Date.parse('2026-03-05T08:00:00Z')
    expect(await sendAt('2026-03-05T08:59:59Z')).toEqual(waiting)

    await storeOutputUntil('2026-03-04T23:00:02Z')
    expect(await sendAt('2026-03-05T08:59:59Z')).toEqual({ ...NONE, sent: 1 })
    const [{ request }] = (await listDeliveries()) as [typeof delivery.$inferSelect]
    expect(request.message).not.toContain('INCOMPLETE')
  })

  it('is sent after an hour without the events that are still missing, and says so', async () => {
    await create({ usecase_keys: ['line-crossing'] })
    await storeOutputUntil('2026-03-04T12:00:00Z')
    expect(await sendAt('2026-03-05T06:59:59Z')).toMatchObject({ sent: 0 })
    expect(await sendAt('2026-03-05T07:00:00Z')).toEqual({ ...NONE, sent: 1 })
    const [{ request }] = (await listDeliveries()) as [typeof delivery.$inferSelect]
    expect(request.message).toContain('INCOMPLETE: events of Gate may be missing')
  })

  it('contains what the person may see who saved it last, at the time of sending', async () => {
    await create({ report_to: ['a@example.com'] })
    await sendAt('2026-03-05T06:00:00Z')
    await system(async tx => {
      const [crossing] = await tx
        .select()
        .from(usecase)
        .where(eq(usecase.usecase_key, 'line-crossing'))
      await tx
        .insert(userUsecase)
        .values({ user_id: manager.user_id, usecase_id: crossing!.usecase_id })
    })
    await sendAt('2026-03-06T06:00:00Z')
    const rows = await Promise.all(
      (await listDeliveries()).map(({ report_id }) => readRows(report_id!)),
    )
    expect(rows.map(each => each.map(({ channel }) => channel).toSorted())).toEqual([
      ['Gate', 'Hall'],
      ['Gate'],
    ])
  })

  it('is left out with the reason while this person has no access, and goes on when another one saves it', async () => {
    const reportScheduleId = await create()
    await system(tx =>
      tx.update(user).set({ is_active: false }).where(eq(user.user_id, manager.user_id)),
    )
    expect(await sendAt('2026-03-05T06:00:00Z')).toEqual({ ...NONE, failed: ['Visitors'] })
    const formerManager = manager.email
    manager = await management.signIn('manager', { sites: [siteId] })
    const {
      report_problem: reportProblem,
      saved_by: _,
      last_day: lastDay,
      next_report_at: __,
      ...fields
    } = await read(reportScheduleId)
    expect(reportProblem).toContain(
      `${formerManager} saved this schedule and has no access to the site`,
    )
    expect(lastDay).toBe('2026-03-04')

    await management.call(
      routes.update,
      { ...fields, report_schedule_id: reportScheduleId },
      manager,
    )
    expect(await read(reportScheduleId)).toMatchObject({
      report_problem: '',
      saved_by: manager.email,
    })
    expect(await sendAt('2026-03-06T06:00:00Z')).toEqual({ ...NONE, sent: 1 })
  })

  it('of a deleted user is left out with the reason', async () => {
    const reportScheduleId = await create()
    await system(tx => tx.delete(user).where(eq(user.user_id, manager.user_id)))
    expect(await sendAt('2026-03-05T06:00:00Z')).toMatchObject({ failed: ['Visitors'] })
    manager = await management.signIn('manager', { sites: [siteId] })
    expect((await read(reportScheduleId)).report_problem).toContain(
      'save it with /report/schedule/update',
    )
  })

  it('is not sent while it is inactive, nor afterwards for that time', async () => {
    const reportScheduleId = await create({ is_active: false })
    expect(await read(reportScheduleId)).toMatchObject({ next_report_at: null })
    expect(await sendAt('2026-03-07T12:00:00Z')).toMatchObject({ sent: 0 })
    const {
      saved_by: _,
      last_day: __,
      next_report_at: ___,
      report_problem: ____,
      ...fields
    } = await read(reportScheduleId)
    await management.call(routes.update, { ...fields, is_active: true }, manager)
    expect(await read(reportScheduleId)).toMatchObject({ last_day: '2026-03-06' })
    expect(await sendAt('2026-03-08T06:00:00Z')).toMatchObject({ sent: 1 })
  })

  it('is sent on demand, which changes nothing about its times, and its deliveries are listed', async () => {
    const reportScheduleId = await create()
    const { headers } = await management.call(
      routes.send,
      { report_schedule_id: reportScheduleId },
      manager,
    )
    const { delivery } = managementRoutes
    const { response } = await management.call(
      delivery.list,
      { report_schedule_id: reportScheduleId },
      manager,
    )
    expect(response).toMatchObject([
      {
        delivery_kind: 'report',
        report_schedule_id: reportScheduleId,
        channel_id: null,
        delivery_state: 'queued',
      },
      { delivery_kind: 'report', report_schedule_id: reportScheduleId },
    ])
    expect(response.map(({ delivery_id }) => delivery_id)).toContain(
      headers.get('location')!.split('=')[1],
    )
    expect(await read(reportScheduleId)).toMatchObject({ last_day: '2026-03-03' })
    const stranger = await management.signIn('manager')
    expect(
      (await management.send(delivery.list, { report_schedule_id: reportScheduleId }, stranger))
        .status,
    ).toBe(404)
  })

  it('disappears with its files and deliveries', async () => {
    const reportScheduleId = await create()
    await sendAt('2026-03-05T06:00:00Z')
    await management.call(routes.delete, { report_schedule_id: reportScheduleId }, manager)
    expect(await listDeliveries()).toEqual([])
    expect(await system(tx => tx.select().from(report))).toEqual([])
  })

  it.each([
    [{ report_to: [] }, 'report_to'],
    [{ report_to: ['a@example.com, b@example.com'] }, 'report_to.0'],
    [{ report_to: ['a@example.com\r\nBcc: b@example.com'] }, 'report_to.0'],
    [{ report_time: '24:00' }, 'report_time'],
    [{ report_every: 'year' }, 'report_every'],
  ])('is rejected with %j', async (more, field) => {
    const input = {
      report_name: 'x',
      site_id: siteId,
      report_every: 'day',
      report_to: ['a@example.com'],
      ...more,
    }
    const { status, response } = await management.send(routes.create, input, manager)
    expect(status).toBe(400)
    expect(response).toMatchObject({ fields: [{ field }] })
  })

  it('is rejected with a channel of another site', async () => {
    const other = await insertEngine(management.database)
    const channel = await insertChannel(management.database, other, 'line-crossing')
    const input = {
      report_name: 'x',
      site_id: siteId,
      report_every: 'day',
      report_to: ['a@example.com'],
    }
    const { status, message } = await management.send(routes.create, {
      ...input,
      channel_ids: [channel],
    })
    expect(status).toBe(400)
    expect(message).toContain('this channel belongs to another site')
  })
})
