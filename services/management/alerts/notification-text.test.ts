import { describe, expect, it } from 'vitest'
import { createDeliveries, createNotificationData, type FiringDetails } from './notification-text.ts'

const details: FiringDetails = {
  alert_name: 'Crowd',
  alert_priority: 'high',
  alert_threshold: '5',
  alert_threshold_condition: 'gte',
  alert_threshold_key: 'occupancy',
  channel_name: 'Hall',
  usecase_key: 'occupancy',
  value: 0.1 + 0.2,
  time: '2026-01-01T08:00:00.000Z',
}

describe('createDeliveries', () => {
  it('fills in known placeholders and retains unknown ones', () => {
    const [delivery] = createDeliveries(
      [
        {
          action_type: 'webhook',
          action_to: 'ops',
          action_subject: '{{alert_priority}}: {{ alert_name }}',
          action_message: '{{value}} of {{threshold}} {{unknown}}',
          action_payload: '{"at":"{{time}}","key":"{{key}}","how":"{{condition}}"}',
        },
      ],
      details,
    )
    expect(delivery).toEqual({
      action: 0,
      type: 'webhook',
      to: 'ops',
      subject: 'high: Crowd',
      message: '0.3 of 5 {{unknown}}',
      payload: '{"at":"2026-01-01T08:00:00.000Z","key":"occupancy","how":"gte"}',
    })
  })

  it('uses the default texts for an action without texts', () => {
    const deliveries = createDeliveries([{ action_type: 'sms', action_to: '+41' }], details)
    expect(createNotificationData(deliveries, details, 'eyrie@example.com')).toEqual({
      from: 'eyrie@example.com',
      to: '+41',
      subject: 'Crowd on Hall',
      message: 'occupancy is 0.3 (≥ 5) on Hall at 2026-01-01T08:00:00.000Z',
    })
  })

  it.each([
    [{ action_url: 'https://example.com/hook' }, 'webhook'],
    [{ action_url: 'mqtts://broker:8883' }, 'mqtt'],
    [{ action_url: 'wss://broker/mqtt' }, 'mqtt'],
    [{ action_to: 'ops@example.com' }, 'email'],
    [{}, 'email'],
  ])('infers the type from the address of the action %j', (action, type) => {
    expect(createDeliveries([action], details)).toMatchObject([{ type }])
  })

  it('does not expand placeholders in the values that it fills in', () => {
    const [delivery] = createDeliveries([{ action_type: 'sms', action_message: '{{alert_name}}' }], {
      ...details,
      alert_name: '{{value}} $& $1',
    })
    expect(delivery?.message).toBe('{{value}} $& $1')
  })
})

describe('createNotificationData', () => {
  it('uses the default texts when an alert has no actions', () => {
    expect(createNotificationData([], details, '')).toMatchObject({ to: '', subject: 'Crowd on Hall' })
  })
})
