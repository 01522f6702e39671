import { expect, it } from 'vitest'
import { deliveriesOf, type Firing, notificationData } from './notification-text.ts'

const firing: Firing = {
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

it('fills in what stands in double braces, and leaves what nobody knows', () => {
  const [delivery] = deliveriesOf(
    [
      {
        action_type: 'webhook',
        action_to: 'ops',
        action_subject: '{{alert_priority}}: {{ alert_name }}',
        action_message: '{{value}} of {{threshold}} {{unknown}}',
        action_payload: '{"at":"{{time}}","key":"{{key}}","how":"{{condition}}"}',
      },
    ],
    firing,
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

it('says what can be said of any alert where an action has no words of its own', () => {
  const deliveries = deliveriesOf([{ action_type: 'sms', action_to: '+41' }], firing)
  expect(notificationData(deliveries, firing, 'eyrie@example.com')).toEqual({
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
])('tells by the address of an action without a type how it is sent: %j', (action, type) => {
  expect(deliveriesOf([action], firing)).toMatchObject([{ type }])
})

it('tells those who look, where nobody is to be told', () => {
  expect(notificationData([], firing, '')).toMatchObject({ to: '', subject: 'Crowd on Hall' })
})

it('takes nothing out of the values that it fills in', () => {
  const [delivery] = deliveriesOf([{ action_type: 'sms', action_message: '{{alert_name}}' }], {
    ...firing,
    alert_name: '{{value}} $& $1',
  })
  expect(delivery?.message).toBe('{{value}} $& $1')
})
