import { managementRoutes } from '@eyrie/contract/management/index'
import { v7 } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  alertInput,
  getInvalidFields,
} from '../../../../../test/fixtures/management/alert-input.ts'
import {
  insertChannel,
  insertEngine,
} from '../../../../../test/fixtures/management/engine-messages.ts'
import { getCreatedId } from '../../../../../test/fixtures/management/hierarchy.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'
import { shared } from '../../../../../test/fixtures/setup/shared.ts'

const { alert, schedule } = managementRoutes

const management = sharedManagement()
const heard = shared(() => insertEngine(management.database))
let channelId: string
let otherId: string
beforeEach(async () => {
  channelId = await insertChannel(management.database, heard, 'line-crossing')
  otherId = await insertChannel(management.database, heard, 'occupancy')
})

const weekdays = {
  occurrence_id: 1,
  occurrence_activate_cron: '0 8 * * mon-fri',
  occurrence_deactivate_cron: '0 18 * * 1-5',
  occurrence_constraint: '',
  occurrence_start_time: '',
  occurrence_end_time: '',
  occurrence_is_allday: false,
}
const office = {
  ...weekdays,
  occurrence_activate_cron: '',
  occurrence_deactivate_cron: '',
  occurrence_constraint: 'mon,tue',
  occurrence_start_time: '22:00',
  occurrence_end_time: '06:00',
}

describe('schedules', () => {
  let alertId: string
  beforeEach(async () => {
    alertId = getCreatedId(await management.call(alert.create, alertInput(channelId)))
  })

  const cron = (more: Record<string, unknown> = {}) => ({
    alert_id: alertId,
    channel_id: channelId,
    schedule_name: 'Weekdays',
    schedule_type: 'cron' as const,
    schedule_occurrence: [weekdays],
    ...more,
  })
  const window = (occurrence: Record<string, unknown> = {}) =>
    cron({ schedule_type: 'window', schedule_occurrence: [{ ...office, ...occurrence }] })

  it('are created with null, and Location points to them', async () => {
    const { status, response, headers } = await management.send(schedule.create, cron())
    expect([status, response]).toEqual([201, null])
    const read = await management.request(headers.get('location')!.replace('/api/v1', ''), {
      headers: { authorization: `Bearer ${management.superadmin.token}` },
    })
    expect(await read.json()).toMatchObject({
      response: {
        ...cron(),
        schedule_id: getCreatedId({ headers } as never),
        is_active: true,
      },
    })
  })

  it('fill in missing numbers and fields of their occurrences', async () => {
    const { occurrence_activate_cron, occurrence_deactivate_cron } = weekdays
    const few = { occurrence_activate_cron, occurrence_deactivate_cron }
    const scheduleId = getCreatedId(
      await management.send(
        schedule.create,
        cron({ schedule_occurrence: [few, { ...few, occurrence_id: 1 }] }),
      ),
    )
    const { response } = await management.call(schedule.get, { schedule_id: scheduleId })
    expect(response.schedule_occurrence).toEqual([{ ...weekdays, occurrence_id: 2 }, weekdays])
  })

  it('are updated with the fields that were read, listed by channel, and deleted', async () => {
    const scheduleId = getCreatedId(await management.send(schedule.create, cron()))
    const { response } = await management.call(schedule.get, { schedule_id: scheduleId })
    const updated = await management.send(schedule.update, {
      ...response,
      schedule_name: 'Workdays',
    })
    expect(updated).toMatchObject({
      status: 200,
      response: { ...response, schedule_name: 'Workdays' },
    })
    expect((await management.call(schedule.list, { channel_id: channelId })).response).toEqual([
      updated.response,
    ])
    expect((await management.call(schedule.list, { channel_id: otherId })).response).toEqual([])
    const held = await management.call(alert.delete, { alert_id: alertId })
    expect([held.status, held.message]).toEqual([409, expect.stringContaining('schedule')])
    expect(await management.call(schedule.delete, { schedule_id: scheduleId })).toMatchObject({
      status: 200,
      response: null,
    })
    expect((await management.call(schedule.get, { schedule_id: scheduleId })).status).toBe(404)
  })

  it('reject an alert of another channel', async () => {
    const { status, response } = await management.send(
      schedule.create,
      cron({ channel_id: otherId }),
    )
    expect([status, getInvalidFields(response)]).toEqual([400, ['alert_id']])
    await management.send(schedule.create, cron())
    const moved = await management.send(alert.update, {
      ...alertInput(channelId),
      alert_id: alertId,
      channel_id: otherId,
    })
    expect([moved.status, moved.message]).toEqual([409, expect.stringContaining('schedule')])
  })

  it.each(['* * * * *', '*/5 0-23/2 1,15 jan-mar SUN', '0 0 31 12 7', '5,10-20/5,59 * * * *'])(
    'accept the cron expression %s',
    async occurrenceActivateCron => {
      const { status } = await management.send(
        schedule.create,
        cron({
          schedule_occurrence: [{ ...weekdays, occurrence_activate_cron: occurrenceActivateCron }],
        }),
      )
      expect(status).toBe(201)
    },
  )

  it.each([
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '5-1 * * * *',
    '*/0 * * * *',
    '1- * * * *',
    '@daily',
    'x * * * *',
  ])('reject the cron expression %j', async occurrenceDeactivateCron => {
    const { status, response } = await management.send(
      schedule.create,
      cron({
        schedule_occurrence: [
          { ...weekdays, occurrence_deactivate_cron: occurrenceDeactivateCron },
        ],
      }),
    )
    expect([status, getInvalidFields(response)]).toEqual([
      400,
      ['schedule_occurrence.0.occurrence_deactivate_cron'],
    ])
  })

  it.each([
    {},
    { occurrence_constraint: '' },
    { occurrence_start_time: '', occurrence_end_time: '', occurrence_is_allday: true },
    {
      occurrence_start_time: '2026-01-01T08:00:00Z',
      occurrence_end_time: '2026-01-02T08:00:00+02:00',
    },
  ])('accept the window %j', async occurrence => {
    expect((await management.send(schedule.create, window(occurrence))).status).toBe(201)
  })

  it.each([
    [{ occurrence_start_time: '24:00' }, 'occurrence_start_time'],
    [{ occurrence_start_time: '8:00' }, 'occurrence_start_time'],
    [{ occurrence_end_time: '2026-02-30T00:00:00Z' }, 'occurrence_end_time'],
    [{ occurrence_end_time: '' }, 'occurrence_end_time'],
    [{ occurrence_end_time: '2026-01-01T08:00:00Z' }, 'occurrence_end_time'],
    [
      {
        occurrence_start_time: '2026-01-02T08:00:00Z',
        occurrence_end_time: '2026-01-01T08:00:00Z',
      },
      'occurrence_end_time',
    ],
    [{ occurrence_constraint: 'mon,someday' }, 'occurrence_constraint'],
    [{ occurrence_is_allday: 'yes' }, 'occurrence_is_allday'],
    [{ occurrence_colour: 'red' }, 'occurrence_colour'],
  ])('reject the window %j', async (occurrence, field) => {
    const { status, response } = await management.send(schedule.create, window(occurrence))
    expect([status, getInvalidFields(response)]).toEqual([400, [`schedule_occurrence.0.${field}`]])
  })

  it('may only activate, only deactivate, and have no occurrence', async () => {
    for (const lacking of ['occurrence_activate_cron', 'occurrence_deactivate_cron']) {
      const { [lacking]: _, ...occurrence } = weekdays as Record<string, unknown>
      const { status } = await management.send(
        schedule.create,
        cron({ schedule_occurrence: [occurrence] }),
      )
      expect(status).toBe(201)
    }
    expect((await management.send(schedule.create, cron({ schedule_occurrence: [] }))).status).toBe(
      201,
    )
    const { response } = await management.send(schedule.create, cron({ schedule_occurrence: [{}] }))
    expect(getInvalidFields(response)).toEqual(['schedule_occurrence.0.occurrence_activate_cron'])
  })

  it('reject an unknown type and a duplicate number', async () => {
    const moon = await management.send(schedule.create, cron({ schedule_type: 'moon' }))
    expect(getInvalidFields(moon.response)).toEqual(['schedule_type'])
    const { response } = await management.send(
      schedule.create,
      cron({ schedule_occurrence: [weekdays, weekdays] }),
    )
    expect(getInvalidFields(response)).toContain('schedule_occurrence.1.occurrence_id')
  })

  it.each(['get', 'delete', 'update'] as const)(
    'that do not exist: %s responds with 404',
    async name => {
      const input = { ...(name === 'update' ? cron() : {}), schedule_id: v7() }
      const { status, response } = await management.send(schedule[name], input)
      expect([status, getInvalidFields(response)]).toEqual([404, ['schedule_id']])
    },
  )
})
