import { readFileSync } from 'node:fs'
import { type Health, health } from '@eyrie/contract/health'
import { SEVERITIES } from '@eyrie/contract/log-record'
import type { AlertAction } from '@eyrie/contract/management/alert'
import { managementRoutes } from '@eyrie/contract/management/index'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  sharedManagement,
  sharedRecords,
} from '../../test/fixtures/management/shared-management.ts'
import { findFreePort } from '../../test/fixtures/network/free-ports.ts'
import { mosquittoRequirement } from '../../test/fixtures/network/mosquitto.ts'
import { startService } from '../../test/fixtures/processes/service-process.ts'
import { needs } from '../../test/fixtures/requirements/needs.ts'
import {
  insertDeliveries,
  readDeliveries,
  readDelivery,
  updateDelivery,
} from '../../test/fixtures/scheduler/insert-deliveries.ts'
import { startMqttBroker } from '../../test/fixtures/scheduler/mqtt-broker.ts'
import { startPushService } from '../../test/fixtures/scheduler/push-service.ts'
import { startSchedulerProcess } from '../../test/fixtures/scheduler/run-scheduler.ts'
import { serveSchedulerApi } from '../../test/fixtures/scheduler/scheduler-api.ts'
import { SMS_ACCOUNT, startSmsReceiver } from '../../test/fixtures/scheduler/sms-receiver.ts'
import { startSmtpReceiver } from '../../test/fixtures/scheduler/smtp-receiver.ts'
import { startWebhookReceiver } from '../../test/fixtures/scheduler/webhook-receiver.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { delivery, pushSubscription } from '../management/db/schema/index.ts'

const MAX_IDLE_BYTES = 80 << 20

const management = sharedManagement()
const records = sharedRecords(management)
beforeEach(() => management.database.system('test', tx => tx.delete(delivery)))

/** Starts a scheduler that delivers what this management stores. */
async function start(settings?: object, environment?: Record<string, string>) {
  const api = await serveSchedulerApi(management)
  onTestFinished(() => api.close())
  const scheduler = await startSchedulerProcess(api.url, settings, environment)
  onTestFinished(() => scheduler.stop())
  return scheduler
}

const insert = (...actions: AlertAction[]) =>
  insertDeliveries(management.database, records, actions)
const waitForState = (deliveryId: string, state: string) =>
  vi.waitUntil(async () => {
    const row = await readDelivery(management.database, deliveryId)
    return row.state === state ? row : undefined
  })

const readHealth = async (url: string): Promise<Health> =>
  health.parse(await (await fetch(`${url}/health`)).json())

/** Memory of a process in bytes, without pages of files, which the services share. */
const readMemory = (pid: number) =>
  Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

describe('scheduler', () => {
  it('delivers what is stored before it starts and while it runs, and reports the result', async () => {
    const receiver = await startWebhookReceiver()
    const [early = ''] = await insert({ action_url: receiver.url })
    const scheduler = await start()
    await waitForState(early, 'delivered')
    const [late = ''] = await insert({ action_url: receiver.url })
    expect(await waitForState(late, 'delivered')).toMatchObject({ attempts: 1, reason: '200 ok' })
    expect(receiver.calls.map(({ headers }) => headers['webhook-id'])).toEqual([early, late])
    const metrics = await (await fetch(`${scheduler.url}/metrics`)).text()
    expect(metrics).toContain(
      'eyrie_scheduler_delivery_attempts_total{type="webhook",result="delivered"} 2',
    )
  })

  /** Starts a mail server and enters it in the settings. */
  async function startMailServer() {
    const server = await startSmtpReceiver({ disabledCommands: ['STARTTLS'] })
    await management.call(managementRoutes.config.updateSmtp, {
      smtp_host: '127.0.0.1',
      smtp_port: server.port,
      smtp_from: 'eyrie@example.com',
    })
    return server
  }

  it('sends the test of an alert as an e-mail by the mail server of the settings', async () => {
    const server = await startMailServer()
    await start({ timeout_s: 60 })
    const { alert_id } = records
    const answer = await management.call(managementRoutes.delivery.test, {
      alert_id,
      action_index: 0,
    })
    const deliveryId = answer.headers.get('location')!.split('=')[1]!
    await waitForState(deliveryId, 'sent')
    expect(server.emails).toMatchObject([
      {
        to: ['ops@example.com'],
        content: expect.stringContaining('Subject: Test: alert on channel'),
      },
    ])
  })

  it(
    'sends the test of an alert to a webhook, a telephone, a topic and a browser',
    needs(mosquittoRequirement),
    async () => {
      const webhook = await startWebhookReceiver()
      const sms = await startSmsReceiver()
      const broker = await startMqttBroker()
      const push = await startPushService()
      await management.call(managementRoutes.config.updateSms, {
        sms_provider: sms.url,
        ...SMS_ACCOUNT,
        sms_from: '+41780000000',
      })
      await management.database.system('test', tx => tx.delete(pushSubscription))
      await management.call(managementRoutes.user.pushSubscribe, push.subscription)
      // A test is attempted once.
      await start({ timeout_s: 60 }, { NODE_EXTRA_CA_CERTS: push.certificateFile })

      const { channel_id } = records
      const alertActions: AlertAction[] = [
        { action_url: webhook.url },
        { action_type: 'sms', action_to: '+41790000000' },
        { action_url: `mqtt://127.0.0.1:${broker.port}/site/door` },
        { action_type: 'push' },
      ]
      const created = await management.call(managementRoutes.alert.create, {
        ...{
          channel_id,
          alert_name: 'Crowd',
          alert_priority: 'high',
          alert_frequency: 0,
          alert_actions: alertActions,
        },
        ...{ alert_threshold: '5', alert_threshold_condition: 'gt', alert_threshold_key: 'total' },
      })
      const alertId = created.headers.get('location')!.split('=')[1]!
      const ids: string[] = []
      for (const actionIndex of alertActions.keys()) {
        const answer = await management.call(managementRoutes.delivery.test, {
          alert_id: alertId,
          action_index: actionIndex,
        })
        ids.push(answer.headers.get('location')!.split('=')[1]!)
      }
      const [webhookId = '', ...others] = ids
      await waitForState(webhookId, 'delivered')
      for (const deliveryId of others) await waitForState(deliveryId, 'sent')

      expect(webhook.calls[0]!.headers['webhook-id']).toBe(webhookId)
      expect(sms.messages).toMatchObject([
        { to: '+41790000000', body: expect.stringContaining('Test') },
      ])
      await vi.waitUntil(() => broker.messages.length > 0)
      expect(broker.messages).toMatchObject([{ topic: 'site/door' }])
      expect(push.messages).toMatchObject([{ message: { title: expect.stringContaining('Test') } }])
    },
  )

  it('sends a scheduled report as an e-mail to each receiver, with the file of the report', async () => {
    const server = await startMailServer()
    await start()
    const { reportSchedule } = managementRoutes
    const created = await management.call(reportSchedule.create, {
      report_name: 'Visitors',
      site_id: records.site_id,
      report_every: 'day',
      report_to: ['a@example.com', 'b@example.com'],
      report_format: 'csv',
    })
    const reportScheduleId = created.headers.get('location')!.split('=')[1]!
    const sent = await management.call(reportSchedule.send, {
      report_schedule_id: reportScheduleId,
    })
    await waitForState(sent.headers.get('location')!.split('=')[1]!, 'sent')
    await vi.waitUntil(() => server.emails.length === 2)
    expect(server.emails.flatMap(({ to }) => to).toSorted()).toEqual([
      'a@example.com',
      'b@example.com',
    ])
    for (const { content } of server.emails) {
      expect(content).toContain('Subject: Visitors: ')
      expect(content).toMatch(/filename=Visitors-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv/)
      // The beginning of the file in base64.
      expect(content).toContain(Buffer.from('usecase,channel').toString('base64'))
    }
  })

  it('repeats a failed delivery with the same id', async () => {
    const receiver = await startWebhookReceiver(response => response.writeHead(500).end())
    await start()
    const [deliveryId = ''] = await insert({ action_url: receiver.url })
    const failed = await waitForState(deliveryId, 'failed')
    expect(failed.next_attempt_at!.getTime()).toBeGreaterThan(Date.now())
    receiver.answer = response => response.end('ok')
    await updateDelivery(management.database, deliveryId, { next_attempt_at: new Date() })
    // Announces that something is due.
    await insert({ action_url: receiver.url })
    expect(await waitForState(deliveryId, 'delivered')).toMatchObject({ attempts: 2 })
    const attempts = receiver.calls.filter(({ headers }) => headers['webhook-id'] === deliveryId)
    expect(attempts).toHaveLength(2)
  })

  it('reports results for actions with the longest texts, and goes on with others', async () => {
    const receiver = await startWebhookReceiver()
    await start()
    const long = '{{time}}'.repeat(500)
    const [strange = '', longText = ''] = await insert(
      { action_url: receiver.url, action_method: 'x'.repeat(4096) },
      { action_url: receiver.url, action_payload: long },
    )
    await waitForState(strange, 'dead')
    await waitForState(longText, 'delivered')
    const [next = ''] = await insert({ action_url: receiver.url })
    await waitForState(next, 'delivered')
  })

  it('delivers to other targets while one does not answer and one refuses, and reports how many are down', async () => {
    const silent = await startWebhookReceiver(() => {})
    const receiver = await startWebhookReceiver()
    const scheduler = await start()
    const dead = Array.from({ length: 40 }, () => ({ action_url: 'http://127.0.0.1:9/' }))
    const hanging = Array.from({ length: 40 }, () => ({ action_url: silent.url }))
    const ids = await insert(...dead, ...hanging)
    await vi.waitUntil(() => silent.calls.length > 0)
    for (let i = 0; i < 5; i += 1) {
      const [deliveryId = ''] = await insert({ action_url: receiver.url })
      await waitForState(deliveryId, 'delivered')
    }
    await vi.waitUntil(async () =>
      (await readHealth(scheduler.url)).alarms[0]?.includes('2 of the receivers'),
    )
    const states = (await readDeliveries(management.database, ids)).map(({ state }) => state)
    expect(states).toContain('queued')
    expect(states).not.toContain('delivered')
  })

  it('continues after management was unreachable', async () => {
    const receiver = await startWebhookReceiver()
    const first = await serveSchedulerApi(management)
    const scheduler = await startSchedulerProcess(first.url)
    onTestFinished(() => scheduler.stop())
    const [early = ''] = await insert({ action_url: receiver.url })
    await waitForState(early, 'delivered')
    await first.close()
    await vi.waitUntil(() =>
      scheduler.lines.some(line => line.includes('failed to claim deliveries')),
    )
    const [late = ''] = await insert({ action_url: receiver.url })
    const second = await serveSchedulerApi(management, Number(new URL(first.url).port))
    onTestFinished(() => second.close())
    await waitForState(late, 'delivered')
  })

  it('waits without warnings for management, which starts later', async () => {
    const receiver = await startWebhookReceiver()
    const port = await findFreePort()
    const scheduler = await startSchedulerProcess(`http://127.0.0.1:${port}`)
    onTestFinished(() => scheduler.stop())
    const [early = ''] = await insert({ action_url: receiver.url })
    await vi.waitUntil(() => scheduler.lines.some(line => line.includes('waiting for management')))
    expect((await readHealth(scheduler.url)).management).toBe(false)

    const api = await serveSchedulerApi(management, port)
    onTestFinished(() => api.close())
    await waitForState(early, 'delivered')
    expect(scheduler.lines.filter(line => JSON.parse(line).level >= SEVERITIES.warn)).toEqual([])
  })

  it('uses little memory while nothing is due', async () => {
    const scheduler = await start()
    await vi.waitUntil(async () => (await readHealth(scheduler.url)).management === true)
    expect(readMemory(scheduler.pid)).toBeLessThan(MAX_IDLE_BYTES)
  })

  it('does not start without its token', async () => {
    const environment = { EYRIE_DATA: createTemporaryFolder(), EYRIE_SCHEDULER_PORT: '0' }
    await expect(startService('scheduler', environment)).rejects.toThrow('EYRIE_SCHEDULER_TOKEN')
  })
})
