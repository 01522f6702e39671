import { managementRoutes } from '@eyrie/contract/management/index'
import { v7 } from 'uuid'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  historyPeriod,
  historyStart,
  hourMs,
  insertChannelHistory,
  minuteMs,
  numericFields,
} from '../../../../../test/fixtures/management/channel-history.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'

const { range } = managementRoutes.event

const management = sharedManagement()
let gate: string
let hall: string
beforeAll(async () => {
  ;({ gate, hall } = await insertChannelHistory(management))
})

const ofGate = (more: object = {}) => ({
  usecase: 'line-crossing',
  usecase_meta_key: 'up,down,total,alert',
  channel_id: gate,
  agg_frequency: '5m',
  details: 'false',
  ...historyPeriod,
  ...more,
})

describe('events by range', () => {
  it('are sums of the buckets that contain events', async () => {
    const { status, response } = await management.send(range, ofGate())
    expect(status).toBe(200)
    expect(response).toMatchObject({
      usecase_key: 'line-crossing',
      channel_id: gate,
      ...historyPeriod,
      agg_frequency: '5m',
      event_limit: 100,
      event_offset: 0,
      events: [
        {
          id: 1,
          time: new Date(historyStart).toISOString(),
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
          time: new Date(historyStart + 30 * minuteMs).toISOString(),
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

  it('have numbers for the requested statistics, and no others', async () => {
    const { response } = await management.send(range, ofGate())
    const [event] = (response as { events: Record<string, unknown>[] }).events
    for (const field of ['up', 'down', 'total', 'alert', 'id']) {
      expect(typeof event![field], field).toBe('number')
    }
    for (const field of numericFields.filter(
      field => !['up', 'down', 'total', 'alert'].includes(field),
    )) {
      expect(event).not.toHaveProperty(field)
    }
    for (const field of ['metadata', 'threshold', 'time']) {
      expect(typeof event![field], field).toBe('string')
    }
    expect(event!.ids).toEqual([])
  })

  it.each([
    [
      '100ms',
      [
        [1000, 2],
        [2000, 1],
        [3000, 1],
        [30 * minuteMs + 5000, 1],
      ],
    ],
    [
      '1s',
      [
        [1000, 2],
        [2000, 1],
        [3000, 1],
        [30 * minuteMs + 5000, 1],
      ],
    ],
    [
      '2s',
      [
        [0, 2],
        [2000, 2],
        [30 * minuteMs + 4000, 1],
      ],
    ],
    ['1h', [[0, 5]]],
    [
      '10m',
      [
        [0, 4],
        [30 * minuteMs, 1],
      ],
    ],
  ] as const)('come in buckets of %s', async (aggFrequency, buckets) => {
    const { response } = await management.call(
      range,
      ofGate({ agg_frequency: aggFrequency }) as never,
    )
    expect(
      response.events.map(({ time, total }) => [Date.parse(time) - historyStart, total]),
    ).toEqual(buckets)
  })

  it('use buckets of 0.1 s by default', async () => {
    const { agg_frequency: _, details: __, ...input } = ofGate()
    expect((await management.send(range, input)).response).toMatchObject({
      agg_frequency: '100ms',
      events: { length: 4 },
    })
  })

  it('are paged', async () => {
    const page = ofGate({ agg_frequency: '1s', event_offset: '1', event_limit: '2' })
    const { response } = await management.call(range, page as never)
    expect([response.event_offset, response.event_limit]).toEqual([1, 2])
    expect(response.events.map(({ id, time }) => [id, Date.parse(time) - historyStart])).toEqual([
      [2, 2000],
      [3, 3000],
    ])
    expect(
      (await management.call(range, ofGate({ event_limit: '5000' }) as never)).response.event_limit,
    ).toBe(1000)
    expect(
      (await management.call(range, ofGate({ event_offset: '50' }) as never)).response.events,
    ).toEqual([])
  })

  it('list the events and their objects with details', async () => {
    const { response } = await management.call(range, ofGate({ details: 'true' }) as never)
    expect(response.events.map(({ ids }) => ids)).toEqual([['13', '11', '12'], ['14']])
    expect(JSON.parse(response.events[1]!.metadata)).toMatchObject([
      {
        type: 'line-crossing',
        direction: 'down',
        track: 14,
        time: new Date(historyStart + 30 * minuteMs + 5000).toISOString(),
      },
    ])
  })

  it('accept keys repeated or separated by commas', async () => {
    const query = new URLSearchParams(ofGate({ usecase_meta_key: 'up' }))
    query.append('usecase_meta_key', 'down')
    const reply = await management.request(`/event/range?${query}`, {
      headers: { authorization: `Bearer ${management.superadmin.token}` },
    })
    const { response } = (await reply.json()) as { response: { events: object[] } }
    expect(response.events).toMatchObject([
      { up: 3, down: 1 },
      { up: 0, down: 1 },
    ])
    expect(response.events[0]).not.toHaveProperty('total')
  })

  it.each(['1s', '1h'])('include buckets of %s that contain only alerts', async aggFrequency => {
    const { response } = await management.call(
      range,
      ofGate({ usecase_meta_key: 'alert', agg_frequency: aggFrequency }) as never,
    )
    expect(response.events).toMatchObject([{ id: 1, alert: 1, threshold: '3' }])
  })

  it('accept start and end in every form', async () => {
    for (const [start, end] of [
      [String(historyStart), String(historyStart + hourMs)],
      ['-3h', 'now'],
      [historyPeriod.start.replace('.000Z', '+00:00'), '+1m'],
    ]) {
      const { response } = await management.call(
        range,
        ofGate({ start, end, agg_frequency: '1d' }) as never,
      )
      expect(
        response.events.reduce((sum, { total = 0 }) => sum + total, 0),
        start,
      ).toBeGreaterThanOrEqual(5)
    }
  })

  it('carry the last occupancy forward', async () => {
    const { response } = await management.call(
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
    [{ end: historyPeriod.start }, 'end'],
    [{ agg_frequency: '5 minutes' }, 'agg_frequency'],
    [{ agg_frequency: '0s' }, 'agg_frequency'],
    [{ usecase_meta_key: 'up,sideways' }, 'usecase_meta_key.1'],
    [{ usecase_meta_key: '' }, 'usecase_meta_key.0'],
    [{ event_offset: '-1' }, 'event_offset'],
    [{ event_limit: '0' }, 'event_limit'],
    [{ details: 'perhaps' }, 'details'],
    [{ usecase: 'occupancy' }, 'usecase'],
    [{ colour: 'red' }, 'colour'],
  ])('reject %j', async (wrong, field) => {
    const { status, response } = await management.send(range, ofGate(wrong))
    expect([
      status,
      (response as { fields: { field: string }[] }).fields.map(fault => fault.field),
    ]).toEqual([400, [field]])
  })

  it.each([
    [{ usecase: 'none' }, 'usecase'],
    [{ channel_id: v7() }, 'channel_id'],
    [{ channel_id: 'none' }, 'channel_id'],
  ])('are rejected with 404 for %j', async (absent, field) => {
    const { status, message } = await management.send(range, ofGate(absent))
    expect([status, message]).toEqual([404, expect.stringContaining(`${field}: no such`)])
  })
})
