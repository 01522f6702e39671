import type { FiringDetails } from '@eyrie/contract/management/delivery-queue'
import { describe, expect, it } from 'vitest'
import { createNotificationData, createRequest } from './notification-text.ts'

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
const hostile = { ...details, alert_name: 'a"b\\c\r\nX: y&z=1/ü€' }

describe('createRequest', () => {
  it('fills in known placeholders and retains unknown ones', () => {
    const action = {
      action_type: 'webhook' as const,
      action_to: 'ops',
      action_subject: '{{alert_priority}}: {{ alert_name }}',
      action_message: '{{value}} of {{threshold}} {{unknown}} {{constructor}}',
      action_payload: '{"at":"{{time}}","key":"{{key}}","how":"{{condition}}"}',
      own_key: 1,
    }
    expect(createRequest(action, details)).toEqual({
      subject: 'high: Crowd',
      message: '0.3 of 5 {{unknown}} {{constructor}}',
      details,
      action: {
        ...action,
        action_payload: '{"at":"2026-01-01T08:00:00.000Z","key":"occupancy","how":"gte"}',
      },
    })
  })

  it('uses the default texts for an action without texts', () => {
    const request = createRequest({ action_type: 'sms', action_to: '+41' }, details)
    expect(createNotificationData([request], details, 'eyrie@example.com')).toEqual({
      from: 'eyrie@example.com',
      to: '+41',
      subject: 'Crowd on Hall',
      message: 'occupancy is 0.3 (≥ 5) on Hall at 2026-01-01T08:00:00.000Z',
    })
  })

  it('does not expand placeholders in the values that it fills in', () => {
    const { message } = createRequest(
      { action_type: 'sms', action_message: '{{alert_name}}' },
      { ...details, alert_name: '{{value}} $& $1' },
    )
    expect(message).toBe('{{value}} $& $1')
  })

  it('keeps a value inside its string of a JSON payload', () => {
    const { action } = createRequest({ action_payload: ' {"name": "{{alert_name}}"}' }, hostile)
    expect(JSON.parse(action.action_payload!)).toEqual({ name: hostile.alert_name })
  })

  it.each(['name: {{alert_name}}', '{{alert_name}}'])(
    'fills a value into the payload %s unchanged',
    text => {
      const { action } = createRequest({ action_payload: text }, hostile)
      expect(action.action_payload).toBe(text.replace('{{alert_name}}', hostile.alert_name))
    },
  )

  it('keeps a value inside its part of the address and the query', () => {
    const { action } = createRequest(
      { action_url: 'https://example.com/{{alert_name}}/end', action_query: 'name={{alert_name}}' },
      hostile,
    )
    expect(new URL(action.action_url!).pathname.split('/')).toHaveLength(3)
    expect([...new URLSearchParams(action.action_query)]).toEqual([['name', hostile.alert_name]])
  })

  it('keeps a value inside the line of its header, in the characters that headers permit', () => {
    const { action } = createRequest({ action_header: 'X-Name: {{alert_name}}\nX-End: 1' }, hostile)
    expect(action.action_header).toBe('X-Name: a"b\\c??X: y&z=1/ü?\nX-End: 1')
  })
})

describe('createNotificationData', () => {
  it('uses the default texts when an alert has no actions', () => {
    expect(createNotificationData([], details, '')).toMatchObject({
      to: '',
      subject: 'Crowd on Hall',
    })
  })
})
