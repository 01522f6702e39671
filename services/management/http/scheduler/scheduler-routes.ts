import { EyrieError } from '@eyrie/contract'
import {
  type ClaimedBatch,
  type ClaimedDelivery,
  deliveryChanges,
  deliveryClaim,
  deliveryPicturePath,
  deliveryReportPath,
  deliveryResults,
} from '@eyrie/contract/management/delivery-queue'
import { parseAs } from '@eyrie/contract/parse'
import { isKnownToken, parseBearerToken } from '@eyrie/kit'
import { limitBodySize, parseJsonBody } from '@eyrie/kit/request-body'
import { Hono } from 'hono'
import type { Database, Transaction } from '../../db/database.ts'
import { claimDeliveries, findNextDueMs, storeResults } from '../../deliveries/claim-deliveries.ts'
import type { DeliveryChanges } from '../../deliveries/delivery-changes.ts'
import { readDeliverySettings, smsKind, smtpKind } from '../../deliveries/delivery-settings.ts'
import { readOrCreateVapidKey } from '../../deliveries/push-subscriptions.ts'
import { readReportFile } from '../../deliveries/report-files.ts'
import { createUnsubscribeToken } from '../../deliveries/unsubscribed-addresses.ts'
import type { PictureStore } from '../../events/pictures/picture-store.ts'
import type { LiveFeed } from '../../feed/live-feed.ts'
import type { JobRunner } from '../../jobs/job-runner.ts'
import type { ScheduleChanges } from '../../schedules/schedule-changes.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { createJobRoutes } from './job-routes.ts'
import { addScheduleRoutes } from './schedule-routes.ts'
import { createSchedulerFeedRoutes } from './scheduler-feed-routes.ts'

const MAX_BODY_BYTES = 4 << 20
/** How long a request waits for a change. */
const CHANGE_TIMEOUT_MS = 20_000

/** The components that these routes use. */
export interface SchedulerServices {
  deliveryChanges: Pick<DeliveryChanges, 'waitForChange'>
  scheduleChanges: Pick<ScheduleChanges, 'waitForChange'>
  liveFeed: LiveFeed
  pictures: Pick<PictureStore, 'read'>
  secrets: Secrets
  runner: JobRunner
}

export interface SchedulerRoutesOptions {
  /** The token of the scheduler. If undefined, all requests are rejected. */
  token: string | undefined
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  /** Throws `EyrieError` (`unavailable`) until the management service has started. */
  services(): SchedulerServices
}

/**
 * Routes that the scheduler calls to deliver notifications, to apply schedules and to start jobs.
 * They require the token of the scheduler, which permits nothing else.
 */
export function createSchedulerRoutes({ token, database, services }: SchedulerRoutesOptions): Hono {
  const app = new Hono()
  app.use('/scheduler/*', async (c, next) => {
    const sent = parseBearerToken(c.req.header('Authorization'))
    if (!isKnownToken(sent, token ? [token] : [])) {
      throw new EyrieError(
        'auth',
        'send the token in EYRIE_SCHEDULER_TOKEN, which management needs too',
      )
    }
    await next()
  })

  const limitBody = limitBodySize(MAX_BODY_BYTES)

  app.post(deliveryClaim.path, limitBody, async c => {
    const claim = await parseJsonBody(c, deliveryClaim.body)
    const batch = await database().system('deliveries', async tx => {
      const { secrets } = services()
      const deliveries = await claimDeliveries(tx, claim, address =>
        createUnsubscribeToken(address, secrets),
      )
      const settings = await readSettings(tx, deliveries, secrets)
      return { deliveries, next_due_ms: await findNextDueMs(tx), ...settings }
    })
    return c.json(batch satisfies ClaimedBatch)
  })

  app.post(deliveryResults.path, limitBody, async c => {
    const { results } = await parseJsonBody(c, deliveryResults.body)
    await database().system('deliveries', tx => storeResults(tx, results))
    return c.json({})
  })

  app.get(deliveryChanges.path, async c => {
    const { version } = parseAs(deliveryChanges.query, c.req.query())
    const changes = services().deliveryChanges
    return c.json({
      version: await changes.waitForChange(version, CHANGE_TIMEOUT_MS, c.req.raw.signal),
    })
  })

  app.get(deliveryPicturePath(':sha256{[0-9a-f]{64}}'), async c => {
    const jpeg = await services().pictures.read(c.req.param('sha256') ?? '')
    if (!jpeg) throw new EyrieError('id', 'this picture is not stored')
    return c.body(new Uint8Array(jpeg), 200, { 'Content-Type': 'image/jpeg' })
  })

  app.get(deliveryReportPath(':report_id{[0-9a-f-]{36}}'), async c => {
    const reportId = c.req.param('report_id') ?? ''
    const file = await database().system('deliveries', tx => readReportFile(tx, reportId))
    if (!file) throw new EyrieError('id', 'this report is not stored')
    return c.body(new Uint8Array(file.content), 200, { 'Content-Type': file.media_type })
  })

  addScheduleRoutes(app, { database, changes: () => services().scheduleChanges })
  app.route('/', createSchedulerFeedRoutes({ database, services }))
  app.route('/', createJobRoutes({ database, runner: () => services().runner }))
  return app
}

/** Returns the settings that these deliveries need, with their secrets. */
async function readSettings(
  tx: Transaction,
  deliveries: readonly ClaimedDelivery[],
  secrets: Secrets,
) {
  const needs = (type: ClaimedDelivery['type']) =>
    deliveries.some(delivery => delivery.type === type)
  return {
    smtp: needs('email') ? await readDeliverySettings(tx, smtpKind, secrets) : null,
    sms: needs('sms') ? await readDeliverySettings(tx, smsKind, secrets) : null,
    vapid_key: needs('push') ? await readOrCreateVapidKey(tx, secrets) : null,
  }
}
