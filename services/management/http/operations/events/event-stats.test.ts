import { managementRoutes } from '@eyrie/contract/management/index'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  type ChannelHistory,
  historyPeriod,
  historyStart,
  insertChannelHistory,
  minuteMs,
} from '../../../../../test/fixtures/management/channel-history.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'

const { channelStats, usecaseStats, usecaseStatsByQuery, usecaseReport } = managementRoutes.event

const management = sharedManagement()
let heard: ChannelHistory['engine']
let gate: string
let hall: string
beforeAll(async () => {
  ;({ engine: heard, gate, hall } = await insertChannelHistory(management))
})

describe('channel stats', () => {
  it('cover the last hours, including the alerts that fired', async () => {
    const { status, response } = await management.call(channelStats, {
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
          time: new Date(historyStart + 3000).toISOString(),
        },
      ],
    })
    const { ids, ...statistics } = response.channel_stats
    expect(statistics).toEqual({ up: 4, down: 2, total: 6, alert: 1 })
    expect(ids.slice(0, 4)).toEqual(['14', '13', '11', '12'])
  })

  it('contain no statistics that were not requested or that the usecase does not have', async () => {
    const { response } = await management.call(channelStats, {
      usecase: 'line-crossing',
      usecase_meta_key: 'up,fire,moving_average',
      channel_id: gate,
      frequency: '-1d',
    })
    expect(response.channel_stats).toEqual({ up: 4, ids: expect.any(Array) })
  })

  it('cover one hour by default', async () => {
    const { response } = await management.call(channelStats, {
      usecase: 'line-crossing',
      usecase_meta_key: 'total',
      channel_id: gate,
    })
    expect(response.channel_stats.total).toBe(0)
    expect(response.channel_alert).toEqual([])
  })

  it('contain the current occupancy, however old its last event is', async () => {
    const { response } = await management.call(channelStats, {
      usecase: 'occupancy',
      usecase_meta_key: 'occupancy,moving_average_count',
      channel_id: hall,
      frequency: '-1m',
    })
    expect(response.channel_stats.occupancy).toBe(0)
    expect(response.channel_stats).not.toHaveProperty('dwell_time')
    expect(response.channel_stats.moving_average_count).toBeCloseTo(0, 3)
  })
})

describe('usecase stats', () => {
  const frequency = '-1d'

  it('are the requested sums of the channels, with names without underscores in the query form', async () => {
    const { status, response } = await management.call(usecaseStatsByQuery, {
      ...{ usecase: 'line-crossing', usecase_meta_key: 'up,down,total', frequency },
    })
    expect(status).toBe(200)
    expect(response).toMatchObject({
      usecase_key: 'line-crossing',
      usecase_total_alert: 1,
      usecase_total_notification: 1,
    })
    expect(
      response.usecase_channel.map(each => [each.channel_name, each.channel_stats.total]),
    ).toEqual([
      ['Door', 1],
      ['Gate', 6],
    ])
    expect(response.usecase_total_stats).toEqual({ up: 5, down: 2, total: 7 })
  })

  it('are the same in the body form, with the names of channel stats', async () => {
    const { response } = await management.call(usecaseStats, {
      ...{
        details: true,
        frequency,
        usecase_key: 'line-crossing',
        usecase_meta_key: ['up', 'total'],
      },
    })
    expect(response.usecase_total_stats).toEqual({
      ...{ up: 5, total: 7 },
      ids: expect.arrayContaining(['14']),
    })
  })

  it('include only channels that the caller may see', async () => {
    const input = { usecase: 'line-crossing', usecase_meta_key: 'up', frequency }
    const stranger = await management.signIn('viewer')
    expect(
      (await management.call(usecaseStatsByQuery, input, stranger)).response.usecase_channel,
    ).toEqual([])
    const viewer = await management.signIn('viewer', { sites: [heard.site_id] })
    expect(
      (await management.call(usecaseStatsByQuery, input, viewer)).response.usecase_channel,
    ).toHaveLength(2)
    expect(
      (await management.call(usecaseStatsByQuery, input, viewer)).response.usecase_total_stats.up,
    ).toBe(5)
  })
})

describe('usecase reports', () => {
  const report = () => ({
    channel_id: hall,
    details: true,
    start_date: historyPeriod.start,
    end_date: historyPeriod.end,
    usecase_key: 'occupancy',
  })

  it('contain all statistics that the usecase of a channel has, over a period', async () => {
    const { status, response } = await management.call(usecaseReport, report())
    expect(status).toBe(200)
    expect(response).toMatchObject({
      channel_id: hall,
      usecase_key: 'occupancy',
      channel_total_alert: 0,
    })
    expect(Object.keys(response.channel_stats).toSorted()).toEqual(
      [
        'alert',
        'dwell_time',
        'ids',
        'moving_average',
        'moving_average_count',
        'occupancy',
      ].toSorted(),
    )
    expect(response.channel_stats).toMatchObject({ occupancy: 0, dwell_time: 15 })
  })

  it('cover whole days when dates are given', async () => {
    const [startDate, endDate] = [historyPeriod.start, historyPeriod.end].map(moment =>
      moment.slice(0, 10),
    ) as [string, string]
    const { status, response } = await management.call(usecaseReport, {
      ...report(),
      start_date: startDate,
      end_date: endDate,
    })
    expect([status, response.channel_stats.dwell_time]).toEqual([200, 15])
    const { status: none } = await management.send(usecaseReport, {
      ...report(),
      end_date: '2026-02-30',
    })
    expect(none).toBe(400)
  })

  it('may end on the last day of the calendar', async () => {
    const { status } = await management.send(usecaseReport, { ...report(), end_date: '9999-12-31' })
    expect(status).toBe(200)
  })

  it('contain the occupancy at their end, even if its last event precedes their start', async () => {
    const early = {
      start_date: new Date(historyStart).toISOString(),
      end_date: new Date(historyStart + minuteMs).toISOString(),
    }
    const { response } = await management.call(usecaseReport, { ...report(), ...early })
    expect(response.channel_stats.occupancy).toBe(4)
  })
})
