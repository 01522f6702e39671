import type { AlertAction } from '@eyrie/contract/management/alert'
import type { DeliveryTemplate } from '@eyrie/contract/management/delivery'
import { managementRoutes } from '@eyrie/contract/management/index'
import { describe, expect, it } from 'vitest'
import {
  sharedManagement,
  sharedRecords,
} from '../../../../../test/fixtures/management/shared-management.ts'

const routes = managementRoutes.delivery
const management = sharedManagement()
const records = sharedRecords(management)

const preview = async (action: AlertAction, values: object = {}) =>
  (await management.call(routes.preview, { action, values })).response

describe('the preview of a message', () => {
  it('shows the message of an alert, with the values of the caller', async () => {
    const { alert_id } = records
    const { response } = await management.call(routes.preview, { alert_id, values: { value: 7 } })
    expect(response).toMatchObject({
      delivery_type: 'email',
      delivery_to: 'ops@example.com',
      subject: 'alert on channel',
      message: expect.stringContaining('total is 7 (> 1) on channel'),
      problem: null,
      unknown_placeholders: [],
    })
  })

  it('shows method, headers and body of a webhook without secrets', async () => {
    const shown = await preview({
      action_url: 'https://user:hidden@hooks.example/hidden?key=hidden',
      action_access_token: 'hidden',
      action_header: 'X-Place: {{channel_name}}\nX-Api-Key: hidden',
      action_payload: '{"text": "{{message}}"}',
      action_message: '{{value}}',
    })
    expect(shown).toMatchObject({
      delivery_to: 'hooks.example',
      method: 'POST',
      headers: { authorization: '***', 'x-api-key': '***', 'x-place': 'Example channel' },
      body: '{"text": "6"}',
      body_bytes: 13,
    })
    expect(JSON.stringify(shown)).not.toContain('hidden')
  })

  it('shows the topic of an MQTT message', async () => {
    const actionUrl = 'mqtts://broker.example/site/{{channel_name}}'
    expect(await preview({ action_url: actionUrl }, { channel_name: 'a/b' })).toMatchObject({
      delivery_type: 'mqtt',
      topic: 'site/a_b',
      body: expect.stringContaining('specversion'),
    })
  })

  it('shows how many messages an SMS is, and whether it is shortened', async () => {
    const sms = await preview({
      action_type: 'sms',
      action_message: 'Дверь {{channel_name}} '.repeat(20),
    })
    expect(sms.sms).toEqual({ encoding: 'UCS-2', segments: 3, is_shortened: true })
    expect(sms.body).toMatch(/…$/)
  })

  it('names unknown placeholders, and why a message cannot be sent', async () => {
    const action = {
      action_url: 'mqtt://h',
      action_subject: '{{alert}} {{value}}',
      action_payload: '{{subject}} {{x}}',
    }
    expect(await preview(action)).toMatchObject({
      problem: expect.stringContaining('topic'),
      unknown_placeholders: [
        { field: 'action_subject', placeholder: '{{alert}}' },
        { field: 'action_payload', placeholder: '{{x}}' },
      ],
    })
  })

  it('needs an action', async () => {
    const { alert_id } = records
    const missing = await management.call(routes.preview, { alert_id, action_index: 3 })
    expect([missing.status, missing.message]).toEqual([
      400,
      expect.stringContaining('action_index'),
    ])
    const none = await management.call(routes.preview, {})
    expect([none.status, none.message]).toEqual([400, expect.stringContaining('action')])
  })
})

/** Fills the fields of a template with its examples, as a client does. */
function fillTemplate({
  template_action: templateAction,
  template_fields: templateFields,
}: DeliveryTemplate): AlertAction {
  const text = templateFields.reduce(
    (action, { field, example }) => action.replaceAll(`[[${field}]]`, example),
    JSON.stringify(templateAction),
  )
  return JSON.parse(text)
}

describe('templates for chat services', () => {
  const names = { alert_name: 'A "b" <!channel> *c* @everyone & \\', channel_name: '[x](http://x)' }
  const hostile = { ...names, value: 3 }

  /** The body that the template of a service sends. */
  async function createBody(key: string) {
    const { response } = await management.call(routes.templateList)
    const template = response.find(({ template_key }) => template_key === key)!
    const shown = await preview(fillTemplate(template), hostile)
    expect(shown).toMatchObject({ problem: null, unknown_placeholders: [], method: 'POST' })
    expect(shown.headers).toMatchObject({ 'content-type': 'application/json' })
    return JSON.parse(shown.body!)
  }

  it('have fields whose examples match, and that are all used', async () => {
    const { response } = await management.call(routes.templateList)
    expect(response.map(({ template_key }) => template_key)).toEqual([
      'discord',
      'ntfy',
      'slack',
      'teams',
      'telegram',
    ])
    for (const template of response) {
      const action = JSON.stringify(template.template_action)
      for (const { field, example, pattern } of template.template_fields) {
        expect(action).toContain(`[[${field}]]`)
        expect(example).toMatch(new RegExp(pattern))
        // A value cannot end a string of the payload.
        expect('"').not.toMatch(new RegExp(pattern))
      }
      expect(JSON.stringify(fillTemplate(template))).not.toContain('[[')
    }
  })

  it('send text to Slack, in which names mention and link nothing', async () => {
    const { text } = await createBody('slack')
    expect(text).toMatch(/^\*A "b" &lt;!channel&gt; \*c\* @everyone &amp; \\ on /)
  })

  it('send an Adaptive Card to Teams', async () => {
    const body = await createBody('teams')
    expect(body).toMatchObject({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: {
            type: 'AdaptiveCard',
            version: '1.4',
            body: [{ type: 'TextBlock' }, { type: 'TextBlock' }],
          },
        },
      ],
    })
    expect(body.attachments[0].content.body[0].text).toContain(String.raw`\[x\]\(http://x\)`)
  })

  it('send HTML to Telegram, in which names are text', async () => {
    const { chat_id: chatId, parse_mode: parseMode, text } = await createBody('telegram')
    expect([chatId, parseMode]).toEqual(['-1001234567890', 'HTML'])
    expect(text).toContain('<b>A "b" &lt;!channel&gt;')
  })

  it('send text to Discord that notifies only the readers of the channel', async () => {
    const { content, allowed_mentions: allowedMentions } = await createBody('discord')
    expect(allowedMentions).toEqual({ parse: [] })
    expect(content).toContain(String.raw`\*c\*`)
  })

  it('send title and message to ntfy', async () => {
    expect(await createBody('ntfy')).toEqual({
      topic: 'eyrie-4f7c2a91b0',
      title: `${names.alert_name} on ${names.channel_name}`,
      message: expect.stringContaining('total is 3'),
      tags: ['rotating_light'],
    })
  })
})
