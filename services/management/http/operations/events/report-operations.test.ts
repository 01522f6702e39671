import { managementRoutes } from '@eyrie/contract/management/index'
import { createLog } from '@eyrie/kit'
import { parse } from 'csv-parse/sync'
import { eq } from 'drizzle-orm'
import readXlsx from 'read-excel-file/node'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  createMessageFactory,
  type InsertedEngine,
  insertChannel,
  insertEngine,
} from '../../../../../test/fixtures/management/engine-messages.ts'
import { setStoredUntil } from '../../../../../test/fixtures/management/ingest-database.ts'
import type { InputOf, SignedInUser } from '../../../../../test/fixtures/management/management.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'
import { channel, site, userChannel } from '../../../db/schema/index.ts'
import { toTimestamp } from '../../../db/sql-values.ts'
import { createIngest } from '../../../events/ingest/ingest.ts'

const route = managementRoutes.report.export
type ExportQuery = Partial<InputOf<typeof route>>

const now = new Date('2026-04-01T10:00:00Z')
const management = sharedManagement({ now: () => now })
let engine: InsertedEngine
let gate: string
let hall: string

beforeAll(async () => {
  const { database } = management
  engine = await insertEngine(database)
  await setTimeZone(engine.site_id, 'Europe/Berlin')
  gate = await insertChannel(database, engine, 'line-crossing', {
    channel_sid: 1,
    channel_name: 'Gate',
  })
  hall = await insertChannel(database, engine, 'occupancy', {
    channel_sid: 2,
    channel_name: 'Hall',
  })
  const { hello, crossing, occupancy } = createMessageFactory()
  const ingest = createIngest({ database, subscribers: [], log: createLog('test', 'silent') })
  await ingest.consume(engine.engine_id, [
    hello(),
    // 28 February in UTC, 1 March in Berlin.
    crossing(1, Date.parse('2026-02-28T23:30:00Z')),
    occupancy(2, Date.parse('2026-03-01T12:00:00Z'), 5),
    // The last moments of 29 March, which has 23 hours, and the first of 30 March.
    crossing(1, Date.parse('2026-03-29T21:59:59Z')),
    crossing(1, Date.parse('2026-03-29T22:00:00Z'), 'down'),
    // The month before.
    crossing(1, Date.parse('2026-02-10T12:00:00Z')),
    crossing(1, Date.parse('2026-02-28T22:59:59Z')),
  ])
  await storeOutputUntil(now.toISOString())
})

const storeOutputUntil = (time: string) =>
  management.database.system('test', tx =>
    setStoredUntil(tx, engine.engine_id, toTimestamp(new Date(time))),
  )

const setTimeZone = (siteId: string, siteTimezone: string) =>
  management.database.system('test', tx =>
    tx.update(site).set({ site_timezone: siteTimezone }).where(eq(site.site_id, siteId)),
  )

function request(
  query: ExportQuery,
  { token }: SignedInUser = management.superadmin,
): Promise<Response> {
  const parameters = new URLSearchParams(query as Record<string, string>)
  return management.request(`${route.path}?${parameters}`, {
    headers: { authorization: `Bearer ${token}` },
  })
}

async function readCsv(query: ExportQuery): Promise<Record<string, string>[]> {
  const response = await request({ site_id: engine.site_id, report_format: 'csv', ...query })
  expect(response.status).toBe(200)
  return parse(await response.text(), { columns: true, bom: true })
}

async function readReasons(query: ExportQuery): Promise<string> {
  const response = await request({ site_id: engine.site_id, report_format: 'csv', ...query })
  expect(response.status).toBe(400)
  return ((await response.json()) as { message: string }).message
}

const march = { start_date: '2026-03-01', end_date: '2026-03-31' }

describe('an exported report', () => {
  it('has days of the time zone of the site, also those without events', async () => {
    const rows = await readCsv({ ...march, usecase_keys: 'line-crossing' as never })
    expect(rows.map(({ first_day }) => first_day)).toEqual(
      Array.from({ length: 31 }, (_, index) => `2026-03-${String(index + 1).padStart(2, '0')}`),
    )
    const busy = rows.filter(({ up, down }) => up !== '0' || down !== '0')
    expect(busy).toEqual([
      expect.objectContaining({
        first_day: '2026-03-01',
        up: '1',
        down: '0',
        total: '1',
        channel: 'Gate',
      }),
      expect.objectContaining({ first_day: '2026-03-29', up: '1', down: '0' }),
      expect.objectContaining({ first_day: '2026-03-30', up: '0', down: '1' }),
    ])
  })

  it('repeats the last value of an occupancy on the following days', async () => {
    const rows = await readCsv({ ...march, usecase_keys: 'occupancy' as never })
    expect(rows).toHaveLength(31)
    expect(new Set(rows.map(({ occupancy }) => occupancy))).toEqual(new Set(['5']))
  })

  it.each(["' or true --", "x') or ('1'='1"])('has no rows for %s as a usecase', async attack => {
    expect(await readCsv({ ...march, usecase_keys: attack as never })).toEqual([])
  })

  it('agrees with the UseCase Report of the same days', async () => {
    const { response } = await management.call(managementRoutes.event.usecaseReport, {
      ...march,
      channel_id: gate,
      usecase_key: 'line-crossing',
      details: false,
    })
    const rows = await readCsv({ ...march, channel_ids: gate as never, report_interval: 'month' })
    const { up, down, total } = response.channel_stats
    expect(rows).toEqual([
      expect.objectContaining({
        first_day: '2026-03-01',
        last_day: '2026-03-31',
        channel_key: gate,
      }),
    ])
    expect([rows[0]!.up, rows[0]!.down, rows[0]!.total].map(Number)).toEqual([up, down, total])
  })

  it('has weeks from Monday and last months', async () => {
    const weeks = await readCsv({
      report_period: '2w',
      report_interval: 'week',
      channel_ids: gate as never,
    })
    expect(weeks.map(({ first_day, last_day, up }) => [first_day, last_day, up])).toEqual([
      ['2026-03-16', '2026-03-22', '0'],
      ['2026-03-23', '2026-03-29', '1'],
    ])
    const months = await readCsv({
      report_period: '2mo',
      report_interval: 'month',
      channel_ids: gate as never,
    })
    expect(months.map(({ first_day, up }) => [first_day, up])).toEqual([
      ['2026-02-01', '2'],
      ['2026-03-01', '2'],
    ])
  })

  it('is compared with the period before', async () => {
    const query = { ...march, channel_ids: gate as never, report_comparison: 'true' as never }
    const monthly = await readCsv({ ...query, report_interval: 'month' })
    expect(monthly).toEqual([expect.objectContaining({ up: '2', up_previous: '2' })])
    const daily = await readCsv(query)
    // 10 February. February has no row for the last days of March.
    expect(daily[9]).toMatchObject({ first_day: '2026-03-10', up: '0', up_previous: '1' })
    expect(daily[30]).toMatchObject({ first_day: '2026-03-31', up_previous: '' })
  })

  it('contains the requested statistics only', async () => {
    const [row] = await readCsv({
      ...march,
      usecase_meta_key: 'down,alert' as never,
      channel_ids: gate as never,
    })
    expect(Object.keys(row!)).toEqual([
      'usecase',
      'channel',
      'channel_key',
      'first_day',
      'last_day',
      'down',
      'alert',
    ])
    expect(
      await readCsv({ ...march, usecase_meta_key: 'fire' as never, channel_ids: gate as never }),
    ).toEqual([])
  })

  it('is sent as a file of its format', async () => {
    const query = { ...march, site_id: engine.site_id }
    const pdf = await request({ ...query, report_format: 'pdf' })
    expect(pdf.headers.get('content-type')).toBe('application/pdf')
    expect(pdf.headers.get('content-disposition')).toMatch(
      /^attachment; filename="Report-.+-2026-03-01-2026-03-31\.pdf"$/,
    )
    expect((await pdf.text()).slice(0, 5)).toBe('%PDF-')
    const xlsx = await request({ ...query, report_format: 'xlsx' })
    const sheets = await readXlsx(Buffer.from(await xlsx.arrayBuffer()))
    expect(sheets.map(({ sheet }) => sheet)).toEqual(['Summary', 'line-crossing', 'occupancy'])
  })

  it('of part of a day ends with the last day that has begun', async () => {
    const rows = await readCsv({
      start_date: '-1d',
      end_date: '2026-04-30',
      channel_ids: gate as never,
    })
    expect(rows.map(({ first_day }) => first_day)).toEqual(['2026-03-31', '2026-04-01'])
    expect(rows[0]).not.toHaveProperty('incomplete')
  })

  it('marks the channels of which events may be missing', async () => {
    onTestFinished(() => storeOutputUntil(now.toISOString()))
    const query = {
      ...march,
      usecase_meta_key: 'alert' as never,
      report_interval: 'month',
    } as const
    await storeOutputUntil('2026-03-31T22:00:01Z')
    const viewer = await management.signIn('viewer', { sites: [engine.site_id] })
    const response = await request(
      { ...query, site_id: engine.site_id, report_format: 'csv' },
      viewer,
    )
    expect(parse(await response.text(), { columns: true })).toMatchObject([
      { channel: 'Gate', alert: '0', incomplete: 'true' },
      { channel: 'Hall', alert: '0', incomplete: 'true' },
    ])

    await storeOutputUntil('2026-03-31T22:00:02Z')
    for (const row of await readCsv(query)) expect(row).not.toHaveProperty('incomplete')
    // Of today, nothing is stored yet.
    const today = { start_date: '2026-04-01', end_date: '2026-04-01' }
    for (const row of await readCsv(today)) expect(row).toMatchObject({ incomplete: 'true' })
  })
})

describe('a report is not exported', () => {
  it('without a period, with two, or without channels', async () => {
    expect(await readReasons({})).toContain('start_date: is required without report_period')
    expect(await readReasons({ report_period: '1d', start_date: '-1d' })).toContain(
      'must not be combined',
    )
    expect(await readReasons({ report_period: '0d' })).toContain('such as 7d, 1w or 3mo')
    const response = await request({ report_format: 'csv', report_period: '1d' })
    expect(await response.text()).toContain('site_id: is required without channel_ids')
  })

  it('for more rows than fit in memory', async () => {
    expect(await readReasons({ start_date: '1900-01-01', end_date: '2026-03-31' })).toContain(
      'choose a longer interval',
    )
  })

  it('for channels of another site, or in several time zones', async () => {
    const other = await insertEngine(management.database)
    const foreign = await insertChannel(management.database, other, 'line-crossing')
    const query = { report_period: '1d', channel_ids: `${gate},${foreign}` as never }
    expect(await readReasons(query)).toContain(
      'channel_ids.1: this channel belongs to another site',
    )
    const response = await request({ ...query, report_format: 'csv' })
    expect(await response.text()).toContain('Europe/Berlin and UTC')
  })

  it('for channels and sites that the caller does not see', async () => {
    const stranger = await management.signIn('viewer')
    const site = await request(
      { site_id: engine.site_id, report_format: 'csv', report_period: '1d' },
      stranger,
    )
    expect(site.status).toBe(404)
    const channels = await request(
      { channel_ids: gate as never, report_format: 'csv', report_period: '1d' },
      stranger,
    )
    expect(channels.status).toBe(404)
  })
})

it('contains only channels that the caller sees', async () => {
  const viewer = await management.signIn('viewer')
  await management.database.system('test', tx =>
    tx.insert(userChannel).values({ user_id: viewer.user_id, channel_id: hall }),
  )
  const response = await request(
    { channel_ids: hall as never, report_format: 'csv', ...march },
    viewer,
  )
  const rows = parse(await response.text(), { columns: true }) as Record<string, string>[]
  expect(rows).toHaveLength(31)
  // The viewer sees no site, but its time zone counts.
  const [row] = await management.database.system('test', tx =>
    tx.select().from(channel).where(eq(channel.channel_id, hall)),
  )
  expect(rows[0]).toMatchObject({
    channel: row!.channel_name,
    first_day: '2026-03-01',
    occupancy: '5',
  })
})
