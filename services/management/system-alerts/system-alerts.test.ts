import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  sharedManagement,
  sharedRecords,
} from '../../../test/fixtures/management/shared-management.ts'
import { createCertificate } from '../../../test/fixtures/network/certificate.ts'
import { startSchedulerProcess } from '../../../test/fixtures/scheduler/run-scheduler.ts'
import { serveSchedulerApi } from '../../../test/fixtures/scheduler/scheduler-api.ts'
import { startSmtpReceiver } from '../../../test/fixtures/scheduler/smtp-receiver.ts'
import { startWebhookReceiver } from '../../../test/fixtures/scheduler/webhook-receiver.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { firstRow } from '../db/rows.ts'
import { delivery, job, pictureReference, setting, source } from '../db/schema/index.ts'
import { BEGIN_MS, running, simulateAlerts, unreachable } from './simulated-alerts.fixture.ts'

const { systemAlert: routes } = managementRoutes

const management = sharedManagement()
const records = sharedRecords(management)
const simulated = simulateAlerts(management, records)
const { report } = simulated

const listAlerts = async () => (await management.call(routes.list, {})).response
const readDeliveries = () =>
  management.database.system('test', tx => tx.select().from(delivery).orderBy(delivery.delivery_id))
const setMailServer = (port: number) =>
  management.database.system('test', tx =>
    tx.insert(setting).values({
      name: 'smtp',
      value: { smtp_host: '127.0.0.1', smtp_port: port, smtp_from: 'eyrie@example.com' },
    }),
  )

describe('system alerts', () => {
  it('report an unreachable camera and its return to the first administrator by e-mail', async () => {
    const receiver = await startSmtpReceiver({ disabledCommands: ['STARTTLS'] })
    await setMailServer(receiver.port)
    const api = await serveSchedulerApi(management)
    onTestFinished(() => api.close())
    const scheduler = await startSchedulerProcess(api.url, { timeout_s: 10 })
    onTestFinished(() => scheduler.stop())

    await report(unreachable, 90)
    await vi.waitUntil(() => receiver.emails.length === 1)
    expect(receiver.emails[0]).toMatchObject({ to: [management.superadmin.email] })
    expect(receiver.emails[0]!.content).toMatch(/^Subject: Camera unreachable: /m)
    expect(receiver.emails[0]!.content).toContain('no route to 10.0.0.9: check its power')

    await report(running, 90)
    await vi.waitUntil(() => receiver.emails.length === 2)
    expect(receiver.emails[1]!.content).toMatch(/^Subject: Camera unreachable: .*\(ended\)/m)
    expect(await listAlerts()).toMatchObject([
      {
        system_alert_kind: 'camera_unreachable',
        system_alert_state: 'closed',
        source_id: records.source_id,
      },
    ])
  })

  it('are stored and part of the alarms without a mail server', async () => {
    await report(unreachable, 90)
    expect(await listAlerts()).toMatchObject([
      { system_alert_state: 'open', notified_at: expect.any(String) },
    ])
    expect(await readDeliveries()).toEqual([])
    expect(simulated.alarms()).toEqual([expect.stringContaining('camera unreachable (1)')])
    await report(running, 90)
    expect(simulated.alarms()).toEqual([])
  })

  it('continue after a restart of management, without a second message', async () => {
    await setMailServer(25)
    await report(unreachable, 90)
    simulated.restart()
    await report(unreachable, 90)
    expect(await listAlerts()).toHaveLength(1)
    expect(await readDeliveries()).toHaveLength(1)
    await report(running, 90)
    expect(await readDeliveries()).toHaveLength(2)
  })

  it('continue after the deletion of a camera whose usual picture is known', async () => {
    const { source_id } = await management.database.system('test', async tx => {
      const [row] = await tx.select().from(source).where(eq(source.source_id, records.source_id))
      const { source_id: _, ...fields } = row!
      const copy = firstRow(
        await tx
          .insert(source)
          .values({ ...fields, source_sid: 8 })
          .returning(),
      )
      const usual = { samples: 30, sharpness: 200, edges: [] }
      await tx.insert(pictureReference).values({ source_id: copy.source_id, ...usual })
      return copy
    })
    await report(running, 90)
    await management.call(managementRoutes.source.delete, { source_id })
    await report(unreachable, 180)
    expect(await listAlerts()).toMatchObject([{ system_alert_kind: 'camera_unreachable' }])
  })

  it('report a flapping camera once', async () => {
    await setMailServer(25)
    for (let round = 0; round < 20; round += 1) {
      await report(unreachable, 10)
      await report(running, 20)
    }
    expect(await listAlerts()).toMatchObject([
      { system_alert_state: 'open', interruptions: expect.any(Number) },
    ])
    expect(await readDeliveries()).toHaveLength(1)
  })

  it('neither end nor begin while the engine reports nothing', async () => {
    await report(unreachable, 90)
    await report(undefined, 300)
    expect(await listAlerts()).toMatchObject([{ system_alert_state: 'open' }])
  })

  it('share a message if they begin together, which webhooks receive as a list', async () => {
    const receiver = await startWebhookReceiver()
    const actions = [{ action_url: receiver.url }]
    await management.call(routes.updateSettings, { actions })
    await report(
      {
        ...running,
        recording: { mode: 'continuous', state: 'failed', reason: 'the disk is full' },
      },
      90,
      { disk: { free_bytes: 1_000_000, total_bytes: 1_000_000_000 } },
    )
    const deliveries = await readDeliveries()
    expect(
      deliveries.map(({ request }) =>
        request.system_alerts?.map(alert => alert.system_alert_kind).sort(),
      ),
    ).toEqual([['disk_filling', 'recording_stopped']])
    expect(deliveries[0]).toMatchObject({ type: 'webhook', channel_id: null, alert_id: null })
  })

  it('are sent again after a day until they are acknowledged', async () => {
    await setMailServer(25)
    await report(unreachable, 90)
    simulated.nowMs += 86_400_000
    await report(unreachable, 10)
    expect(await readDeliveries()).toHaveLength(2)

    const [alert] = await listAlerts()
    await management.call(routes.acknowledge, { system_alert_id: alert!.system_alert_id })
    simulated.nowMs += 86_400_000
    await report(unreachable, 10)
    expect(await readDeliveries()).toHaveLength(2)
    expect(await listAlerts()).toMatchObject([{ acknowledged_by: management.superadmin.user_id }])
  })

  it('of a kind with a daily summary are sent once a day at the local time', async () => {
    await setMailServer(25)
    await management.call(routes.updateSettings, {
      kinds: { camera_unreachable: { delivery: 'daily_summary' } },
      summary_time: '18:00',
      summary_timezone: 'UTC',
    })
    await report(unreachable, 90)
    await report(running, 90)
    expect(await readDeliveries()).toEqual([])
    simulated.nowMs = Date.parse('2026-03-04T18:00:00Z')
    await report(running, 30)
    expect(await readDeliveries()).toMatchObject([
      {
        // Its receivers can unsubscribe.
        request: {
          subject: 'Daily summary: 1 system alert (1 × camera unreachable)',
          digest: true,
        },
      },
    ])
    simulated.nowMs = Date.parse('2026-03-05T18:00:00Z')
    await report(running, 30)
    expect(await readDeliveries()).toHaveLength(1)
  })

  it('of a disabled kind do not begin', async () => {
    await management.call(routes.updateSettings, {
      kinds: { camera_unreachable: { is_enabled: false } },
    })
    await report(unreachable, 90)
    expect(await listAlerts()).toEqual([])
  })

  it('report the clock, the license and the outage of an engine', async () => {
    await report(running, 400, {
      time: new Date(BEGIN_MS - 3_600_000).toISOString(),
      license_until: new Date(BEGIN_MS + 86_400_000).toISOString(),
      outage: 'media has not answered yet',
    })
    const kinds = (await listAlerts()).map(({ system_alert_kind }) => system_alert_kind).sort()
    expect(kinds).toEqual(['clock_wrong', 'engine_away', 'license_ending'])
  })

  it('report that no event of an engine can be stored, until one is stored', async () => {
    await setMailServer(25)
    await report(running, 15, {}, true)
    const [message] = await readDeliveries()
    expect(message!.request).toMatchObject({
      subject: 'Events lost: engine',
      message: expect.stringContaining('all of them are lost: read why in the log of management'),
    })

    // After a restart, nothing is known until events arrive.
    simulated.restart()
    await report(running, 120)
    expect(await listAlerts()).toMatchObject([
      { system_alert_kind: 'events_lost', system_alert_state: 'open' },
    ])
    await report(running, 90, {}, false)
    expect(await listAlerts()).toMatchObject([{ system_alert_state: 'closed' }])
  })

  it('report a certificate that ends soon and one that has ended', async () => {
    const { cert } = createCertificate(createTemporaryFolder())
    const certificate = readFileSync(cert, 'utf8')
    const endsMs = Date.parse(new X509Certificate(certificate).validTo)
    const day = new Date(endsMs).toISOString().slice(0, 10)
    simulated.restart({ certificate })
    simulated.nowMs = endsMs - 22 * 86_400_000
    await report(running, 10)
    expect(await listAlerts()).toEqual([])
    simulated.nowMs = endsMs - 20 * 86_400_000
    await report(running, 10)
    const kind = { system_alert_kind: 'certificate_ending', system_alert_state: 'open' }
    expect(await listAlerts()).toMatchObject([
      {
        ...kind,
        system_alert_message: expect.stringContaining(
          `the TLS certificate ends on ${day}, in 20 days: renew`,
        ),
      },
    ])
    simulated.nowMs = endsMs + 60_000
    await report(running, 10)
    expect(await listAlerts()).toMatchObject([
      {
        ...kind,
        system_alert_message: expect.stringContaining(`the TLS certificate ended on ${day}`),
      },
    ])
  })

  it('record the first user who acknowledges them', async () => {
    await report(unreachable, 90)
    const [alert] = await listAlerts()
    const { system_alert_id } = alert!
    const second = await management.signIn('superadmin')
    const { response } = await management.call(routes.acknowledge, { system_alert_id })
    const again = await management.call(routes.acknowledge, { system_alert_id }, second)
    expect(again.response).toEqual(response)
    expect(response).toMatchObject({ acknowledged_by: management.superadmin.user_id })
  })

  it('report an old backup', async () => {
    const value = { finished_at: new Date(BEGIN_MS - 9 * 86_400_000).toISOString() }
    await management.database.system('test', tx =>
      tx.insert(setting).values({ name: 'newest_backup', value }),
    )
    await report(running, 10)
    expect(await listAlerts()).toMatchObject([
      {
        system_alert_kind: 'backup_overdue',
        engine_id: null,
        system_alert_subject: 'this appliance',
      },
    ])
  })

  it('report a missing backup if backups are scheduled and the first one was not started or has failed', async () => {
    const setJob = (values: Partial<typeof job.$inferInsert>) =>
      management.database.system('test', tx =>
        tx
          .insert(job)
          .values({ name: 'backup', ...values })
          .onConflictDoUpdate({ target: job.name, set: values }),
      )
    const listMessages = async () =>
      (await listAlerts()).map(alert => [alert.system_alert_state, alert.system_alert_message])
    const at = (ms: number) => new Date(BEGIN_MS + ms)

    // Nobody has scheduled backups: the job has nothing to do.
    await setJob({
      state: 'skipped',
      started_at: at(-120_000),
      finished_at: at(-60_000),
      next_run_at: at(0),
    })
    simulated.nowMs += 2 * 3_600_000
    await report(running, 10)
    expect(await listAlerts()).toEqual([])

    await management.database.system('test', tx =>
      tx
        .insert(setting)
        .values({ name: 'backup', value: { backup_target: 'folder', backup_folder: '/mnt' } }),
    )
    const message = expect.stringContaining(
      'the first one was due on 2026-03-04: run ./eyrie backup',
    )
    await report(running, 10)
    expect(await listMessages()).toEqual([['open', message]])

    // A run that is in progress may succeed, and fails.
    await setJob({
      state: 'running',
      started_at: at(60_000),
      finished_at: null,
      next_run_at: at(86_400_000),
    })
    await report(running, 100)
    expect(await listMessages()).toEqual([['open', message]])
    await setJob({ state: 'failed', finished_at: at(90_000) })
    await report(running, 100)
    expect(await listMessages()).toEqual([['open', message]])

    await management.database.system('test', tx =>
      tx
        .insert(setting)
        .values({ name: 'newest_backup', value: { finished_at: new Date(simulated.nowMs) } }),
    )
    await report(running, 70)
    expect(await listMessages()).toEqual([['closed', message]])
  })

  it('hide the secrets of actions, and keep them when the placeholder is sent back', async () => {
    const actions = [{ action_url: 'https://hooks.example/x', action_access_token: 'secret' }]
    await management.call(routes.updateSettings, { actions })
    const shown = (await management.call(routes.getSettings)).response
    expect(JSON.stringify(shown)).not.toContain('"secret"')
    await management.call(routes.updateSettings, { actions: shown.actions })
    await report(unreachable, 90)
    expect((await readDeliveries())[0]).toMatchObject({
      request: { action: { action_access_token: 'secret' } },
    })
  })
})
