import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { v7 } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  fullAlertAction as action,
  getInvalidFields,
  alertInput as input,
} from '../../../../../test/fixtures/management/alert-input.ts'
import {
  insertChannel,
  insertEngine,
} from '../../../../../test/fixtures/management/engine-messages.ts'
import { getCreatedId } from '../../../../../test/fixtures/management/hierarchy.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'
import { shared } from '../../../../../test/fixtures/setup/shared.ts'
import { alert as alerts, notification } from '../../../db/schema/index.ts'

const { alert, channel } = managementRoutes

const management = sharedManagement()
const heard = shared(() => insertEngine(management.database))
let channelId: string
let otherId: string
beforeEach(async () => {
  channelId = await insertChannel(management.database, heard, 'line-crossing')
  otherId = await insertChannel(management.database, heard, 'occupancy')
})
const alertInput = (more: Record<string, unknown> = {}) => input(channelId, more)
const createAlert = async (more: Record<string, unknown> = {}) =>
  getCreatedId(await management.call(alert.create, alertInput(more)))

describe('alerts', () => {
  it('are created active, with null, and Location points to them', async () => {
    const { status, response, headers } = await management.call(alert.create, alertInput())
    expect([status, response]).toEqual([201, null])
    const location = headers.get('location')!
    const read = await management.request(location.replace('/api/v1', ''), {
      headers: { authorization: `Bearer ${management.superadmin.token}` },
    })
    expect(await read.json()).toEqual({
      message: expect.any(String),
      response: { ...alertInput(), alert_id: location.split('=')[1], is_active: true },
      response_code: 200,
    })
  })

  it('store unknown keys in their actions', async () => {
    const alertActions = [{ ...action, my_key: { deep: [1, null] }, another: 'text' }]
    const alertId = await createAlert({ alert_actions: alertActions })
    expect(
      (await management.call(alert.get, { alert_id: alertId })).response.alert_actions,
    ).toEqual(alertActions)
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
  ])('reject %s: %j', async (field, value) => {
    const { status, response } = await management.send(alert.create, alertInput({ [field]: value }))
    expect([status, getInvalidFields(response)]).toEqual([400, [field]])
  })

  it('report a field of the wrong type differently from a missing one', async () => {
    const { message } = await management.send(
      alert.create,
      alertInput({ alert_name: 5, alert_priority: undefined }),
    )
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
  ])('reject an action with %s: %j', async (field, value) => {
    const { status, response } = await management.send(
      alert.create,
      alertInput({ alert_actions: [{ ...action, [field]: value }] }),
    )
    expect([status, getInvalidFields(response)]).toEqual([400, [`alert_actions.0.${field}`]])
  })

  it('accept an action without any known field', async () => {
    const alertId = await createAlert({ alert_actions: [{}, { my_key: 1 }] })
    const { response } = await management.call(alert.get, { alert_id: alertId })
    expect(response.alert_actions).toEqual([{}, { my_key: 1 }])
  })

  it('accept every frequency, priority, condition and type of action', async () => {
    for (const alertFrequency of [0, 86_400]) await createAlert({ alert_frequency: alertFrequency })
    for (const alertPriority of ['low', 'medium', 'high', 'critical']) {
      await createAlert({ alert_priority: alertPriority })
    }
    for (const alertThresholdCondition of ['gt', 'gte', 'lt', 'lte', 'eq', 'ne']) {
      await createAlert({ alert_threshold_condition: alertThresholdCondition })
    }
    for (const actionType of ['email', 'sms', 'webhook', 'mqtt']) {
      await createAlert({ alert_actions: [{ action_type: actionType }] })
    }
    for (const alertThreshold of ['-1', '0.5', '1e3']) {
      await createAlert({ alert_threshold: alertThreshold })
    }
    expect((await management.call(alert.list, { channel_id: channelId })).response).toHaveLength(19)
  })

  it('are disabled and enabled by alert and channel, and returned', async () => {
    const alertId = await createAlert()
    const active = async () =>
      (await management.call(alert.listActive, { channel_id: channelId })).response.map(
        each => each.alert_id,
      )
    expect(await active()).toEqual([alertId])
    const disabled = await management.call(alert.disable, {
      alert_id: alertId,
      channel_id: channelId,
    })
    expect(disabled).toMatchObject({
      status: 200,
      response: { alert_id: alertId, is_active: false },
    })
    expect(await active()).toEqual([])
    expect((await management.call(alert.list, { channel_id: channelId })).response).toHaveLength(1)
    const enabled = await management.call(alert.enable, {
      alert_id: alertId,
      channel_id: channelId,
    })
    expect(enabled).toMatchObject({ status: 200, response: { alert_id: alertId, is_active: true } })
    expect(await active()).toEqual([alertId])
    expect(
      (await management.call(alert.enable, { alert_id: alertId, channel_id: channelId })).status,
    ).toBe(200)
  })

  it('are hidden on another channel', async () => {
    const alertId = await createAlert()
    for (const route of [alert.enable, alert.disable]) {
      const { status, response } = await management.send(route, {
        alert_id: alertId,
        channel_id: otherId,
      })
      expect([status, getInvalidFields(response)]).toEqual([404, ['alert_id']])
    }
    expect((await management.call(alert.list, { channel_id: otherId })).response).toEqual([])
  })

  it('are updated with the fields that were read, and returned', async () => {
    const alertId = await createAlert()
    const { response } = await management.call(alert.get, { alert_id: alertId })
    const updated = await management.send(alert.update, {
      ...response,
      alert_name: 'Crowded',
      alert_frequency: 0,
    })
    expect(updated).toMatchObject({
      status: 200,
      response: { ...response, alert_name: 'Crowded', alert_frequency: 0 },
    })
    expect((await management.call(alert.get, { alert_id: alertId })).response).toEqual(
      updated.response,
    )
  })

  it('prevent the deletion of their channel until they are deleted', async () => {
    const alertId = await createAlert()
    const held = await management.call(channel.delete, { channel_id: channelId })
    expect([held.status, held.message]).toEqual([
      409,
      'an alert still refers to it: delete or change that first',
    ])
    expect(await management.call(alert.delete, { alert_id: alertId })).toMatchObject({
      status: 200,
      response: null,
    })
    expect((await management.call(alert.get, { alert_id: alertId })).status).toBe(404)
  })

  it('leave their notifications behind when they are deleted', async () => {
    const alertId = await createAlert()
    await management.database.system('test', tx =>
      tx.insert(notification).values({
        ...{
          channel_id: channelId,
          alert_id: alertId,
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
    await management.call(alert.delete, { alert_id: alertId })
    const rows = await management.database.system('test', tx =>
      tx.select().from(notification).where(eq(notification.channel_id, channelId)),
    )
    expect(rows).toMatchObject([{ alert_id: null, alert_name: 'Busy' }])
  })

  it.each(['get', 'delete', 'update', 'enable', 'disable'] as const)(
    'that do not exist: %s responds with 404',
    async name => {
      for (const alertId of [v7(), 'none']) {
        const input =
          name === 'update'
            ? { ...alertInput(), alert_id: alertId }
            : { alert_id: alertId, channel_id: channelId }
        const { status, response } = await management.send(
          alert[name],
          name === 'get' || name === 'delete' ? { alert_id: alertId } : input,
        )
        expect([status, getInvalidFields(response)]).toEqual([404, ['alert_id']])
      }
    },
  )

  it('can be changed by managers and not by viewers', async () => {
    const viewer = await management.signIn('viewer', { sites: [heard.site_id] })
    const manager = await management.signIn('manager', { sites: [heard.site_id] })
    const stranger = await management.signIn('manager')
    const alertId = getCreatedId(await management.call(alert.create, alertInput(), manager))
    expect((await management.call(alert.get, { alert_id: alertId }, viewer)).status).toBe(200)
    expect(
      (await management.call(alert.disable, { alert_id: alertId, channel_id: channelId }, viewer))
        .status,
    ).toBe(403)
    expect(
      (await management.call(alert.disable, { alert_id: alertId, channel_id: channelId }, stranger))
        .status,
    ).toBe(404)
    expect(
      (await management.call(alert.disable, { alert_id: alertId, channel_id: channelId }, manager))
        .status,
    ).toBe(200)
    const [row] = await management.database.system('test', tx =>
      tx.select().from(alerts).where(eq(alerts.alert_id, alertId)),
    )
    expect(row?.is_active).toBe(false)
  })
})
