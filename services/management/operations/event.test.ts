import { managementRoutes } from '@eyrie/contract/management/index'
import { createLog } from '@eyrie/kit'
import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createTeller,
  type HeardEngine,
  insertChannel,
  insertEngine,
} from '../../../test/fixtures/heard-channel.ts'
import { type ManagementUnderTest, startManagement } from '../../../test/fixtures/management.ts'
import { alert } from '../db/schema/index.ts'
import { createIngest } from '../events/ingest.ts'

const { range, channelStats, usecaseStats, usecaseStatsByQuery, usecaseReport } = managementRoutes.event

const minute = 60_000
const hour = 60 * minute
/** A full hour, so that it is known which buckets there are. */
const begin = Math.floor(Date.now() / hour) * hour - 2 * hour
const period = { start: new Date(begin).toISOString(), end: new Date(begin + hour).toISOString() }

let its: ManagementUnderTest
let heard: HeardEngine
let gate: string
let hall: string
beforeAll(async () => {
  its = await startManagement()
  const { database } = its
  heard = await insertEngine(database)
  gate = await insertChannel(database, heard, 'line-crossing', {
    channel_sid: 1,
    channel_name: 'Gate',
    channel_key: 'gate',
  })
  await insertChannel(database, heard, 'line-crossing', { channel_sid: 2, channel_name: 'Door' })
  hall = await insertChannel(database, heard, 'occupancy', { channel_sid: 3, channel_name: 'Hall' })
  await database.system('test', tx =>
    tx.insert(alert).values({
      alert_id: v7(),
      channel_id: gate,
      alert_name: 'Busy',
      alert_priority: 'low',
      alert_threshold: '3',
      alert_threshold_condition: 'gte',
      alert_threshold_key: 'up',
      alert_frequency: 60,
      alert_actions: [],
    }),
  )
  const { hello, crossing, occupancy, tell } = createTeller()
  await createIngest({ database, log: createLog('test', 'silent') }).consume(heard.engine_id, [
    hello(),
    crossing(1, begin - minute),
    crossing(1, begin + 1000, 'up', { track: 11 }),
    crossing(1, begin + 1040, 'up', { track: 12 }),
    crossing(1, begin + 2000, 'down', { track: 11 }),
    crossing(1, begin + 3000, 'up', { track: 13 }),
    crossing(1, begin + 30 * minute + 5000, 'down', { track: 14 }),
    crossing(2, begin + 10 * minute),
    occupancy(3, begin - 5 * minute, 4),
    occupancy(3, begin + 10 * minute, 6),
    tell('event', 3, begin + 10 * minute, { type: 'zone-exit', dwell_time: 10 }),
    tell('event', 3, begin + 11 * minute, { type: 'zone-exit', dwell_time: 20 }),
    occupancy(3, begin + 20 * minute, 0),
  ])
})
afterAll(() => its.remove())

const ofGate = (more: object = {}) => ({
  usecase: 'line-crossing',
  usecase_meta_key: 'up,down,total,alert',
  channel_id: gate,
  agg_frequency: '5m',
  details: 'false',
  ...period,
  ...more,
})

/** The fields of an Event record and their types, as the specification has them. */
const numeric =
  'alert down dwell_time fire frame_collision frame_near_miss high_smoke intermediate_smoke low_smoke moving_average_count non_violation occupancy total total_collision total_near_miss up violation'.split(
    ' ',
  )

describe('events by range', () => {
  it('are the sums of buckets in which something happened', async () => {
    const { status, response } = await its.send(range, ofGate())
    expect(status).toBe(200)
    expect(response).toMatchObject({
      usecase_key: 'line-crossing',
      channel_id: gate,
      ...period,
      agg_frequency: '5m',
      event_limit: 100,
      event_offset: 0,
      events: [
        {
          id: 1,
          time: new Date(begin).toISOString(),
          up: 3,
          down: 1,
          total: 4,
          alert: 1,
          threshold: '3',
          metadata: '',
          ids: [],
        },
        {
          id: 2,
          time: new Date(begin + 30 * minute).toISOString(),
          up: 0,
          down: 1,
          total: 1,
          alert: 0,
          threshold: '',
        },
      ],
    })
    expect((response as { events: unknown[] }).events).toHaveLength(2)
  })

  it('have every field, numbers but for those that are texts', async () => {
    const { response } = await its.send(range, ofGate())
    const [event] = (response as { events: Record<string, unknown>[] }).events
    for (const field of [...numeric, 'id', 'moving_average'])
      expect(typeof event![field], field).toBe('number')
    for (const field of ['metadata', 'threshold', 'time']) expect(typeof event![field], field).toBe('string')
    expect(event!.ids).toEqual([])
  })

  it.each([
    [
      '100ms',
      [
        [1000, 2],
        [2000, 1],
        [3000, 1],
        [30 * minute + 5000, 1],
      ],
    ],
    [
      '1s',
      [
        [1000, 2],
        [2000, 1],
        [3000, 1],
        [30 * minute + 5000, 1],
      ],
    ],
    [
      '2s',
      [
        [0, 2],
        [2000, 2],
        [30 * minute + 4000, 1],
      ],
    ],
    ['1h', [[0, 5]]],
    [
      '10m',
      [
        [0, 4],
        [30 * minute, 1],
      ],
    ],
  ] as const)('come in buckets of %s', async (agg_frequency, buckets) => {
    const { response } = await its.call(range, ofGate({ agg_frequency }) as never)
    expect(response.events.map(({ time, total }) => [Date.parse(time) - begin, total])).toEqual(buckets)
  })

  it('come in buckets of a tenth of a second unless told otherwise', async () => {
    const { agg_frequency: _, details: __, ...input } = ofGate()
    expect((await its.send(range, input)).response).toMatchObject({
      agg_frequency: '100ms',
      events: { length: 4 },
    })
  })

  it('come by pages', async () => {
    const page = ofGate({ agg_frequency: '1s', event_offset: '1', event_limit: '2' })
    const { response } = await its.call(range, page as never)
    expect([response.event_offset, response.event_limit]).toEqual([1, 2])
    expect(response.events.map(({ id, time }) => [id, Date.parse(time) - begin])).toEqual([
      [2, 2000],
      [3, 3000],
    ])
    expect((await its.call(range, ofGate({ event_limit: '5000' }) as never)).response.event_limit).toBe(1000)
    expect((await its.call(range, ofGate({ event_offset: '50' }) as never)).response.events).toEqual([])
  })

  it('tell with details what happened, and to whom', async () => {
    const { response } = await its.call(range, ofGate({ details: 'true' }) as never)
    expect(response.events.map(({ ids }) => ids)).toEqual([['13', '11', '12'], ['14']])
    expect(JSON.parse(response.events[1]!.metadata)).toMatchObject([
      {
        type: 'line-crossing',
        direction: 'down',
        track: 14,
        time: new Date(begin + 30 * minute + 5000).toISOString(),
      },
    ])
  })

  it('take keys by repetition or commas, and what is not asked for is 0', async () => {
    const query = new URLSearchParams(ofGate({ usecase_meta_key: 'up' }))
    query.append('usecase_meta_key', 'down')
    const answer = await its.request(`/event/range?${query}`, {
      headers: { authorization: `Bearer ${its.superadmin.token}` },
    })
    expect(await answer.json()).toMatchObject({
      response: {
        events: [
          { up: 3, down: 1, total: 0, alert: 0 },
          { up: 0, down: 1, total: 0 },
        ],
      },
    })
  })

  it('go by moments in every form', async () => {
    for (const [start, end] of [
      [String(begin), String(begin + hour)],
      ['-3h', 'now'],
      [period.start.replace('.000Z', '+00:00'), '+1m'],
    ]) {
      const { response } = await its.call(range, ofGate({ start, end, agg_frequency: '1d' }) as never)
      expect(
        response.events.reduce((sum, { total }) => sum + total, 0),
        start,
      ).toBeGreaterThanOrEqual(5)
    }
  })

  it('carry on the occupancy that nobody has changed', async () => {
    const { response } = await its.call(
      range,
      ofGate({
        usecase: 'occupancy',
        channel_id: hall,
        usecase_meta_key: 'occupancy,dwell_time,moving_average',
      }) as never,
    )
    expect(response.events.map(({ occupancy, dwell_time }) => [occupancy, dwell_time])).toEqual([
      [6, 15],
      [0, 0],
    ])
    expect(response.events[0]!.moving_average_count).toBeCloseTo(6, 1)
    expect(response.events[0]!.moving_average).toBe(response.events[0]!.moving_average_count)
  })

  it.each([
    [{ start: 'yesterday' }, 'start'],
    [{ end: '2026-02-30T00:00:00Z' }, 'end'],
    [{ end: period.start }, 'end'],
    [{ agg_frequency: '5 minutes' }, 'agg_frequency'],
    [{ agg_frequency: '0s' }, 'agg_frequency'],
    [{ usecase_meta_key: 'up,sideways' }, 'usecase_meta_key.1'],
    [{ usecase_meta_key: '' }, 'usecase_meta_key.0'],
    [{ event_offset: '-1' }, 'event_offset'],
    [{ event_limit: '0' }, 'event_limit'],
    [{ details: 'perhaps' }, 'details'],
    [{ usecase: 'occupancy' }, 'usecase'],
    [{ colour: 'red' }, 'colour'],
  ])('do not take %j', async (wrong, field) => {
    const { status, response } = await its.send(range, ofGate(wrong))
    expect([status, (response as { fields: { field: string }[] }).fields.map(fault => fault.field)]).toEqual([
      400,
      [field],
    ])
  })

  it.each(['usecase', 'usecase_meta_key', 'channel_id', 'start', 'end'])('need %s', async field => {
    const { [field]: _, ...input } = ofGate() as Record<string, unknown>
    const { status, message } = await its.send(range, input)
    expect([status, message]).toEqual([400, `${field}: is required`])
  })

  it.each([
    [{ usecase: 'none' }, 'usecase'],
    [{ channel_id: v7() }, 'channel_id'],
    [{ channel_id: 'none' }, 'channel_id'],
  ])('are not there for %j', async (absent, field) => {
    const { status, message } = await its.send(range, ofGate(absent))
    expect([status, message]).toEqual([404, expect.stringContaining(`${field}: there is no such`)])
  })
})

describe('channel stats', () => {
  it('are those of the last hours, with the alerts that fired', async () => {
    const { status, response } = await its.call(channelStats, {
      usecase: 'line-crossing',
      usecase_meta_key: 'up,down,total,alert',
      channel_id: gate,
      frequency: '-1d',
    })
    expect(status).toBe(200)
    expect(response).toMatchObject({
      channel_id: gate,
      channel_key: 'gate',
      channel_name: 'Gate',
      usecase_key: 'line-crossing',
      channel_total_alert: 1,
      channel_total_notification: 1,
      channel_alert: [
        {
          channel: gate,
          condition: 'gte',
          count: 1,
          key: 'up',
          name: 'Busy',
          time: new Date(begin + 3000).toISOString(),
        },
      ],
    })
    expect(response.channel_stats).toMatchObject({ up: 4, down: 2, total: 6, alert: 1, occupancy: 0 })
    expect(response.channel_stats.ids.slice(0, 4)).toEqual(['14', '13', '11', '12'])
    for (const field of [...numeric, 'moving_average'])
      expect(typeof (response.channel_stats as Record<string, unknown>)[field], field).toBe('number')
  })

  it('go back one hour unless told otherwise', async () => {
    const { response } = await its.call(channelStats, {
      usecase: 'line-crossing',
      usecase_meta_key: 'total',
      channel_id: gate,
    })
    expect(response.channel_stats.total).toBe(0)
    expect(response.channel_alert).toEqual([])
  })

  it('have the occupancy as it is, whenever that was told', async () => {
    const { response } = await its.call(channelStats, {
      usecase: 'occupancy',
      usecase_meta_key: 'occupancy,moving_average_count',
      channel_id: hall,
      frequency: '-1m',
    })
    expect(response.channel_stats).toMatchObject({ occupancy: 0, dwell_time: 0 })
    expect(response.channel_stats.moving_average_count).toBeCloseTo(0, 3)
  })
})

describe('usecase stats', () => {
  const frequency = '-1d'

  it('are the sum of the channels, in the query form without underscores', async () => {
    const { status, response } = await its.call(usecaseStatsByQuery, {
      ...{ usecase: 'line-crossing', usecase_meta_key: 'up,down,total', frequency },
    })
    expect(status).toBe(200)
    expect(response).toMatchObject({
      usecase_key: 'line-crossing',
      usecase_total_alert: 1,
      usecase_total_notification: 1,
    })
    expect(response.usecase_channel.map(each => [each.channel_name, each.channel_stats.total])).toEqual([
      ['Door', 1],
      ['Gate', 6],
    ])
    expect(response.usecase_total_stats).toEqual({
      ...{
        up: 5,
        down: 2,
        total: 7,
        dwelltime: 0,
        fire: 0,
        framecollision: 0,
        framenearmiss: 0,
        highsmoke: 0,
      },
      ...{ intermediatesmoke: 0, lowsmoke: 0, movingaveragecount: 0, nonviolation: 0, occupancy: 0 },
      ...{ totalcollision: 0, totalnearmiss: 0, violation: 0 },
    })
  })

  it('are the same in the body form, under the names of channel stats', async () => {
    const { response } = await its.call(usecaseStats, {
      ...{ details: true, frequency, usecase_key: 'line-crossing', usecase_meta_key: ['up', 'total'] },
    })
    expect(response.usecase_total_stats).toMatchObject({ up: 5, down: 0, total: 7, moving_average_count: 0 })
    expect(response.usecase_total_stats.ids).toContain('14')
  })

  it('are those of the channels that the caller may see', async () => {
    const input = { usecase: 'line-crossing', usecase_meta_key: 'up', frequency }
    const stranger = await its.signIn('viewer')
    expect((await its.call(usecaseStatsByQuery, input, stranger)).response.usecase_channel).toEqual([])
    const viewer = await its.signIn('viewer', { sites: [heard.site_id] })
    expect((await its.call(usecaseStatsByQuery, input, viewer)).response.usecase_channel).toHaveLength(2)
    expect((await its.call(usecaseStatsByQuery, input, viewer)).response.usecase_total_stats.up).toBe(5)
  })

  it.each(['details', 'frequency', 'usecase_key', 'usecase_meta_key'])(
    'in the body form need %s',
    async field => {
      const body = { details: false, frequency, usecase_key: 'occupancy', usecase_meta_key: ['occupancy'] }
      const { [field]: _, ...input } = body as Record<string, unknown>
      const { status, message } = await its.send(usecaseStats, input)
      expect([status, message]).toEqual([400, `${field}: is required`])
    },
  )
})

describe('a usecase report', () => {
  const report = () => ({
    channel_id: hall,
    details: true,
    start_date: period.start,
    end_date: period.end,
    usecase_key: 'occupancy',
  })

  it('has all statistics of a channel over a period', async () => {
    const { status, response } = await its.call(usecaseReport, report())
    expect(status).toBe(200)
    expect(response).toMatchObject({ channel_id: hall, usecase_key: 'occupancy', channel_total_alert: 0 })
    expect(response.channel_stats).toMatchObject({ occupancy: 0, dwell_time: 15, up: 0 })
  })

  it('takes the occupancy at its end, though it was told before it began', async () => {
    const early = {
      start_date: new Date(begin).toISOString(),
      end_date: new Date(begin + minute).toISOString(),
    }
    const { response } = await its.call(usecaseReport, { ...report(), ...early })
    expect(response.channel_stats.occupancy).toBe(4)
  })

  it.each(['channel_id', 'details', 'end_date', 'start_date', 'usecase_key'])('needs %s', async field => {
    const { [field]: _, ...input } = report() as Record<string, unknown>
    const { status, message } = await its.send(usecaseReport, input)
    expect([status, message]).toEqual([400, `${field}: is required`])
  })
})
