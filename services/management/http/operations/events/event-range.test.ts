import { managementRoutes } from '@eyrie/contract/management/index'
import { v7 } from 'uuid'
import { beforeAll, describe, expect, it } from 'vitest'
import { sharedManagement } from '../../../../../test/fixtures/shared-management.ts'
import {
  begin,
  hour,
  minute,
  numeric,
  period,
  tellChannels,
} from '../../../../../test/fixtures/told-channels.ts'

const { range } = managementRoutes.event

const its = sharedManagement()
let gate: string
let hall: string
beforeAll(async () => {
  ;({ gate, hall } = await tellChannels(its))
})

const ofGate = (more: object = {}) => ({
  usecase: 'line-crossing',
  usecase_meta_key: 'up,down,total,alert',
  channel_id: gate,
  agg_frequency: '5m',
  details: 'false',
  ...period,
  ...more,
})

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

  it.each(['1s', '1h'])('tell of alerts alone, in buckets of %s', async agg_frequency => {
    const { response } = await its.call(range, ofGate({ usecase_meta_key: 'alert', agg_frequency }) as never)
    expect(response.events).toMatchObject([{ id: 1, alert: 1, up: 0, threshold: '3' }])
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

  it.each([
    [{ usecase: 'none' }, 'usecase'],
    [{ channel_id: v7() }, 'channel_id'],
    [{ channel_id: 'none' }, 'channel_id'],
  ])('are not there for %j', async (absent, field) => {
    const { status, message } = await its.send(range, ofGate(absent))
    expect([status, message]).toEqual([404, expect.stringContaining(`${field}: no such`)])
  })
})
