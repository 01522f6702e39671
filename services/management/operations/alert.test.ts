import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type HeardEngine, insertChannel, insertEngine } from '../../../test/fixtures/heard-channel.ts'
import { idIn } from '../../../test/fixtures/hierarchy.ts'
import { type ManagementUnderTest, startManagement } from '../../../test/fixtures/management.ts'
import { alert as alerts, notification } from '../db/schema/index.ts'

const { alert, schedule, channel } = managementRoutes

let its: ManagementUnderTest
let heard: HeardEngine
let channel_id: string
let other_id: string
beforeAll(async () => {
  its = await startManagement()
  heard = await insertEngine(its.database)
})
afterAll(() => its.remove())
beforeEach(async () => {
  channel_id = await insertChannel(its.database, heard, 'line-crossing')
  other_id = await insertChannel(its.database, heard, 'occupancy')
})

const action = {
  action_access_id: 'id',
  action_access_token: 'token',
  action_auth_header: 'Authorization: x',
  action_external_link: 'https://example.com',
  action_header: 'A: b',
  action_is_auto_payload: true,
  action_is_secure: false,
  action_message: 'busy',
  action_method: 'POST',
  action_payload: '{}',
  action_process_delay: 5,
  action_query: 'a=b',
  action_subject: 'busy',
  action_to: 'ops@example.com',
  action_type: 'webhook' as const,
  action_url: 'https://example.com/hook',
}

const alertInput = (more: Record<string, unknown> = {}) => ({
  alert_name: 'Busy',
  alert_priority: 'high' as const,
  alert_threshold: '5',
  alert_threshold_condition: 'gt' as const,
  alert_threshold_key: 'up' as const,
  alert_frequency: 60,
  alert_actions: [action],
  channel_id,
  ...more,
})

const createAlert = async (more: Record<string, unknown> = {}) =>
  idIn(await its.call(alert.create, alertInput(more)))
const fieldsAtFault = (response: unknown) =>
  (response as { fields: { field: string }[] }).fields.map(({ field }) => field)

describe('an alert', () => {
  it('is created active, with null, and Location reads it', async () => {
    const { status, response, headers } = await its.call(alert.create, alertInput())
    expect([status, response]).toEqual([201, null])
    const location = headers.get('location')!
    const read = await its.request(location.replace('/api/v1', ''), {
      headers: { authorization: `Bearer ${its.superadmin.token}` },
    })
    expect(await read.json()).toEqual({
      message: expect.any(String),
      response: { ...alertInput(), alert_id: location.split('=')[1], is_active: true },
      response_code: 200,
    })
  })

  it('keeps the keys of its caller in its actions', async () => {
    const alert_actions = [{ ...action, my_key: { deep: [1, null] }, another: 'text' }]
    const alert_id = await createAlert({ alert_actions })
    expect((await its.call(alert.id, { alert_id })).response.alert_actions).toEqual(alert_actions)
  })

  it.each(Object.keys({ ...alertInput() }))('needs %s', async field => {
    const { [field]: _, ...input } = alertInput() as Record<string, unknown>
    const { status, message } = await its.send(alert.create, input)
    expect([status, message]).toEqual([400, `${field}: is required`])
  })

  it.each([
    ['alert_name', ' '],
    ['alert_priority', 'urgent'],
    ['alert_threshold', 5],
    ['alert_threshold', 'many'],
    ['alert_threshold', ''],
    ['alert_threshold', 'NaN'],
    ['alert_threshold', 'Infinity'],
    ['alert_threshold', '1e999'],
    ['alert_threshold_condition', '>'],
    ['alert_threshold_key', 'sideways'],
    ['alert_frequency', -1],
    ['alert_frequency', 86_401],
    ['alert_frequency', 1.5],
    ['alert_frequency', '60'],
    ['alert_actions', 'email'],
    ['colour', 'red'],
  ])('does not take %s: %j', async (field, value) => {
    const { status, response } = await its.send(alert.create, alertInput({ [field]: value }))
    expect([status, fieldsAtFault(response)]).toEqual([400, [field]])
  })

  it('is told apart when a field has another type than when it is missing', async () => {
    const { message } = await its.send(alert.create, alertInput({ alert_name: 5, alert_priority: undefined }))
    expect(message).toBe(
      'alert_name: Invalid input: expected string, received number; alert_priority: is required',
    )
  })

  it.each([
    ['action_type', 'pigeon'],
    ['action_is_secure', 'yes'],
    ['action_process_delay', 1.5],
    ['action_process_delay', -1],
    ['action_to', 5],
  ])('does not take an action with %s: %j', async (field, value) => {
    const { status, response } = await its.send(
      alert.create,
      alertInput({ alert_actions: [{ ...action, [field]: value }] }),
    )
    expect([status, fieldsAtFault(response)]).toEqual([400, [`alert_actions.0.${field}`]])
  })

  it('takes every frequency, priority, condition and type of action', async () => {
    for (const alert_frequency of [0, 86_400]) await createAlert({ alert_frequency })
    for (const alert_priority of ['low', 'medium', 'high', 'critical']) await createAlert({ alert_priority })
    for (const alert_threshold_condition of ['gt', 'gte', 'lt', 'lte', 'eq', 'ne'])
      await createAlert({ alert_threshold_condition })
    for (const action_type of ['email', 'sms', 'webhook', 'mqtt'])
      await createAlert({ alert_actions: [{ action_type }] })
    for (const alert_threshold of ['-1', '0.5', '1e3']) await createAlert({ alert_threshold })
    expect((await its.call(alert.list, { channel_id })).response).toHaveLength(19)
  })

  it('is disabled and enabled by alert and channel, and answered each time', async () => {
    const alert_id = await createAlert()
    const active = async () =>
      (await its.call(alert.active, { channel_id })).response.map(each => each.alert_id)
    expect(await active()).toEqual([alert_id])
    const disabled = await its.call(alert.disable, { alert_id, channel_id })
    expect(disabled).toMatchObject({ status: 200, response: { alert_id, is_active: false } })
    expect(await active()).toEqual([])
    expect((await its.call(alert.list, { channel_id })).response).toHaveLength(1)
    const enabled = await its.call(alert.enable, { alert_id, channel_id })
    expect(enabled).toMatchObject({ status: 200, response: { alert_id, is_active: true } })
    expect(await active()).toEqual([alert_id])
    expect((await its.call(alert.enable, { alert_id, channel_id })).status).toBe(200)
  })

  it('is not there on another channel', async () => {
    const alert_id = await createAlert()
    for (const route of [alert.enable, alert.disable]) {
      const { status, response } = await its.send(route, { alert_id, channel_id: other_id })
      expect([status, fieldsAtFault(response)]).toEqual([404, ['alert_id']])
    }
    expect((await its.call(alert.list, { channel_id: other_id })).response).toEqual([])
  })

  it('is updated as it was read, and answered', async () => {
    const alert_id = await createAlert()
    const { response } = await its.call(alert.id, { alert_id })
    const updated = await its.send(alert.update, { ...response, alert_name: 'Crowded', alert_frequency: 0 })
    expect(updated).toMatchObject({
      status: 200,
      response: { ...response, alert_name: 'Crowded', alert_frequency: 0 },
    })
    expect((await its.call(alert.id, { alert_id })).response).toEqual(updated.response)
  })

  it.each(['alert_id', ...Object.keys({ ...alertInput() })])('is not updated without %s', async field => {
    const alert_id = await createAlert()
    const { [field]: _, ...input } = { ...alertInput(), alert_id } as Record<string, unknown>
    const { status, message } = await its.send(alert.update, input)
    expect([status, message]).toEqual([400, `${field}: is required`])
  })

  it('holds its channel, and goes when it is deleted', async () => {
    const alert_id = await createAlert()
    const held = await its.call(channel.delete, { channel_id })
    expect([held.status, held.message]).toEqual([409, expect.stringContaining('alert')])
    expect(await its.call(alert.delete, { alert_id })).toMatchObject({ status: 200, response: null })
    expect((await its.call(alert.id, { alert_id })).status).toBe(404)
  })

  it('leaves what it has told behind when it is deleted', async () => {
    const alert_id = await createAlert()
    await its.database.system('test', tx =>
      tx.insert(notification).values({
        ...{
          channel_id,
          alert_id,
          usecase_key: 'line-crossing',
          notification_time: new Date(),
          notification_data: {},
        },
        ...{
          alert_name: 'Busy',
          condition: 'gt',
          threshold: '5',
          threshold_key: 'up',
          value: 6,
          deliveries: [],
        },
      }),
    )
    await its.call(alert.delete, { alert_id })
    const rows = await its.database.system('test', tx =>
      tx.select().from(notification).where(eq(notification.channel_id, channel_id)),
    )
    expect(rows).toMatchObject([{ alert_id: null, alert_name: 'Busy' }])
  })

  it.each(['id', 'delete', 'update', 'enable', 'disable'] as const)(
    'that does not exist: %s answers 404',
    async name => {
      for (const alert_id of [v7(), 'none']) {
        const input = name === 'update' ? { ...alertInput(), alert_id } : { alert_id, channel_id }
        const { status, response } = await its.send(
          alert[name],
          name === 'id' || name === 'delete' ? { alert_id } : input,
        )
        expect([status, fieldsAtFault(response)]).toEqual([404, ['alert_id']])
      }
    },
  )

  it('is changed by those who manage, and not by those who look', async () => {
    const viewer = await its.signIn('viewer', { sites: [heard.site_id] })
    const manager = await its.signIn('manager', { sites: [heard.site_id] })
    const stranger = await its.signIn('manager')
    const alert_id = idIn(await its.call(alert.create, alertInput(), manager))
    expect((await its.call(alert.id, { alert_id }, viewer)).status).toBe(200)
    expect((await its.call(alert.disable, { alert_id, channel_id }, viewer)).status).toBe(403)
    expect((await its.call(alert.disable, { alert_id, channel_id }, stranger)).status).toBe(404)
    expect((await its.call(alert.disable, { alert_id, channel_id }, manager)).status).toBe(200)
    const [row] = await its.database.system('test', tx =>
      tx.select().from(alerts).where(eq(alerts.alert_id, alert_id)),
    )
    expect(row?.is_active).toBe(false)
  })
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
    alert_id = await createAlert()
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

  it.each(['alert_id', 'channel_id', 'schedule_name', 'schedule_occurrence', 'schedule_type'])(
    'needs %s',
    async field => {
      const { [field]: _, ...input } = cron() as Record<string, unknown>
      for (const [route, more] of [
        [schedule.create, {}],
        [schedule.update, { schedule_id: idIn(await its.send(schedule.create, cron())) }],
      ] as const) {
        const { status, message } = await its.send(route, { ...input, ...more })
        expect([status, message]).toEqual([400, `${field}: is required`])
      }
    },
  )

  it('is of the channel of its alert', async () => {
    const { status, response } = await its.send(schedule.create, cron({ channel_id: other_id }))
    expect([status, fieldsAtFault(response)]).toEqual([400, ['alert_id']])
    await its.send(schedule.create, cron())
    const moved = await its.send(alert.update, { ...alertInput(), alert_id, channel_id: other_id })
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
    '',
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

  it('does not take another type, no occurrence, or a number twice', async () => {
    for (const [wrong, field] of [
      [{ schedule_type: 'moon' }, 'schedule_type'],
      [{ schedule_occurrence: [] }, 'schedule_occurrence'],
    ] as const)
      expect(fieldsAtFault((await its.send(schedule.create, cron(wrong))).response)).toEqual([field])
    const { response } = await its.send(schedule.create, cron({ schedule_occurrence: [weekdays, weekdays] }))
    expect(fieldsAtFault(response)).toContain('schedule_occurrence.1.occurrence_id')
  })

  it.each(['id', 'delete', 'update'] as const)('that does not exist: %s answers 404', async name => {
    const input = { ...(name === 'update' ? cron() : {}), schedule_id: v7() }
    const { status, response } = await its.send(schedule[name], input)
    expect([status, fieldsAtFault(response)]).toEqual([404, ['schedule_id']])
  })
})
