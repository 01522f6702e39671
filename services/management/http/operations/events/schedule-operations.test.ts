import { managementRoutes } from '@eyrie/contract/management/index'
import { v7 } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import { alertInput, fieldsAtFault } from '../../../../../test/fixtures/alert-input.ts'
import { insertChannel, insertEngine } from '../../../../../test/fixtures/engine-messages.ts'
import { idIn } from '../../../../../test/fixtures/hierarchy.ts'
import { shared } from '../../../../../test/fixtures/shared.ts'
import { sharedManagement } from '../../../../../test/fixtures/shared-management.ts'

const { alert, schedule } = managementRoutes

const its = sharedManagement()
const heard = shared(() => insertEngine(its.database))
let channel_id: string
let other_id: string
beforeEach(async () => {
  channel_id = await insertChannel(its.database, heard, 'line-crossing')
  other_id = await insertChannel(its.database, heard, 'occupancy')
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

describe('a schedule', () => {
  let alert_id: string
  beforeEach(async () => {
    alert_id = idIn(await its.call(alert.create, alertInput(channel_id)))
  })

  const cron = (more: Record<string, unknown> = {}) => ({
    alert_id,
    channel_id,
    schedule_name: 'Weekdays',
    schedule_type: 'cron' as const,
    schedule_occurrence: [weekdays],
    ...more,
  })
  const window = (occurrence: Record<string, unknown> = {}) =>
    cron({ schedule_type: 'window', schedule_occurrence: [{ ...office, ...occurrence }] })

  it('is created with null, and Location reads it', async () => {
    const { status, response, headers } = await its.send(schedule.create, cron())
    expect([status, response]).toEqual([201, null])
    const read = await its.request(headers.get('location')!.replace('/api/v1', ''), {
      headers: { authorization: `Bearer ${its.superadmin.token}` },
    })
    expect(await read.json()).toMatchObject({
      response: {
        ...cron(),
        schedule_id: idIn({ headers } as never),
        is_active: true,
      },
    })
  })

  it('gives its occurrences the numbers and fields that they lack', async () => {
    const { occurrence_activate_cron, occurrence_deactivate_cron } = weekdays
    const few = { occurrence_activate_cron, occurrence_deactivate_cron }
    const schedule_id = idIn(
      await its.send(schedule.create, cron({ schedule_occurrence: [few, { ...few, occurrence_id: 1 }] })),
    )
    const { response } = await its.call(schedule.id, { schedule_id })
    expect(response.schedule_occurrence).toEqual([{ ...weekdays, occurrence_id: 2 }, weekdays])
  })

  it('is updated as it was read, listed by its channel, and deleted', async () => {
    const schedule_id = idIn(await its.send(schedule.create, cron()))
    const { response } = await its.call(schedule.id, { schedule_id })
    const updated = await its.send(schedule.update, { ...response, schedule_name: 'Workdays' })
    expect(updated).toMatchObject({ status: 200, response: { ...response, schedule_name: 'Workdays' } })
    expect((await its.call(schedule.list, { channel_id })).response).toEqual([updated.response])
    expect((await its.call(schedule.list, { channel_id: other_id })).response).toEqual([])
    const held = await its.call(alert.delete, { alert_id })
    expect([held.status, held.message]).toEqual([409, expect.stringContaining('schedule')])
    expect(await its.call(schedule.delete, { schedule_id })).toMatchObject({ status: 200, response: null })
    expect((await its.call(schedule.id, { schedule_id })).status).toBe(404)
  })

  it('is of the channel of its alert', async () => {
    const { status, response } = await its.send(schedule.create, cron({ channel_id: other_id }))
    expect([status, fieldsAtFault(response)]).toEqual([400, ['alert_id']])
    await its.send(schedule.create, cron())
    const moved = await its.send(alert.update, { ...alertInput(channel_id), alert_id, channel_id: other_id })
    expect([moved.status, moved.message]).toEqual([409, expect.stringContaining('schedule')])
  })

  it.each(['* * * * *', '*/5 0-23/2 1,15 jan-mar SUN', '0 0 31 12 7', '5,10-20/5,59 * * * *'])(
    'takes the cron expression %s',
    async occurrence_activate_cron => {
      const { status } = await its.send(
        schedule.create,
        cron({ schedule_occurrence: [{ ...weekdays, occurrence_activate_cron }] }),
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
  ])('does not take the cron expression %j', async occurrence_deactivate_cron => {
    const { status, response } = await its.send(
      schedule.create,
      cron({ schedule_occurrence: [{ ...weekdays, occurrence_deactivate_cron }] }),
    )
    expect([status, fieldsAtFault(response)]).toEqual([
      400,
      ['schedule_occurrence.0.occurrence_deactivate_cron'],
    ])
  })

  it.each([
    {},
    { occurrence_constraint: '' },
    { occurrence_start_time: '', occurrence_end_time: '', occurrence_is_allday: true },
    { occurrence_start_time: '2026-01-01T08:00:00Z', occurrence_end_time: '2026-01-02T08:00:00+02:00' },
  ])('takes the window %j', async occurrence => {
    expect((await its.send(schedule.create, window(occurrence))).status).toBe(201)
  })

  it.each([
    [{ occurrence_start_time: '24:00' }, 'occurrence_start_time'],
    [{ occurrence_start_time: '8:00' }, 'occurrence_start_time'],
    [{ occurrence_end_time: '2026-02-30T00:00:00Z' }, 'occurrence_end_time'],
    [{ occurrence_end_time: '' }, 'occurrence_end_time'],
    [{ occurrence_end_time: '2026-01-01T08:00:00Z' }, 'occurrence_end_time'],
    [
      { occurrence_start_time: '2026-01-02T08:00:00Z', occurrence_end_time: '2026-01-01T08:00:00Z' },
      'occurrence_end_time',
    ],
    [{ occurrence_constraint: 'mon,someday' }, 'occurrence_constraint'],
    [{ occurrence_is_allday: 'yes' }, 'occurrence_is_allday'],
    [{ occurrence_colour: 'red' }, 'occurrence_colour'],
  ])('does not take the window %j', async (occurrence, field) => {
    const { status, response } = await its.send(schedule.create, window(occurrence))
    expect([status, fieldsAtFault(response)]).toEqual([400, [`schedule_occurrence.0.${field}`]])
  })

  it('may activate alone, deactivate alone, and have no occurrence', async () => {
    for (const lacking of ['occurrence_activate_cron', 'occurrence_deactivate_cron']) {
      const { [lacking]: _, ...occurrence } = weekdays as Record<string, unknown>
      const { status } = await its.send(schedule.create, cron({ schedule_occurrence: [occurrence] }))
      expect(status).toBe(201)
    }
    expect((await its.send(schedule.create, cron({ schedule_occurrence: [] }))).status).toBe(201)
    const { response } = await its.send(schedule.create, cron({ schedule_occurrence: [{}] }))
    expect(fieldsAtFault(response)).toEqual(['schedule_occurrence.0.occurrence_activate_cron'])
  })

  it('does not take another type, or a number twice', async () => {
    const moon = await its.send(schedule.create, cron({ schedule_type: 'moon' }))
    expect(fieldsAtFault(moon.response)).toEqual(['schedule_type'])
    const { response } = await its.send(schedule.create, cron({ schedule_occurrence: [weekdays, weekdays] }))
    expect(fieldsAtFault(response)).toContain('schedule_occurrence.1.occurrence_id')
  })

  it.each(['id', 'delete', 'update'] as const)('that does not exist: %s answers 404', async name => {
    const input = { ...(name === 'update' ? cron() : {}), schedule_id: v7() }
    const { status, response } = await its.send(schedule[name], input)
    expect([status, fieldsAtFault(response)]).toEqual([404, ['schedule_id']])
  })
})
