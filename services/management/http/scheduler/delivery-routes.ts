import { EyrieError } from '@eyrie/contract'
import {
  type ClaimedBatch,
  type ClaimedDelivery,
  deliveryChangesRoute,
  deliveryClaimRoute,
  deliveryPicturePath,
  deliveryReportPath,
  deliveryResultsRoute,
} from '@eyrie/contract/management/delivery-queue'
import { parseAs } from '@eyrie/contract/parse'
import { limitBodySize, parseJsonBody } from '@eyrie/kit/request-body'
import { Hono } from 'hono'
import type { Database, Transaction } from '../../db/database.ts'
import { claimDeliveries, findNextDueMs, storeResults } from '../../deliveries/claim-deliveries.ts'
import type { DeliveryChanges } from '../../deliveries/delivery-changes.ts'
import { smsKind, smtpKind } from '../../deliveries/delivery-settings.ts'
import { readOrCreateVapidKey } from '../../deliveries/push-subscriptions.ts'
import { readReportFile } from '../../deliveries/report-files.ts'
import { createUnsubscribeToken } from '../../deliveries/unsubscribed-addresses.ts'
import type { PictureStore } from '../../events/pictures/picture-store.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { readStoredSettings } from '../../settings/stored-settings.ts'

const MAX_BODY_BYTES = 4 << 20
/** How long a request waits for a change. */
const CHANGE_TIMEOUT_MS = 20_000

/** The components that these routes use. */
export interface DeliveryServices {
  deliveryChanges: Pick<DeliveryChanges, 'waitForChange'>
  pictures: Pick<PictureStore, 'read'>
  secrets: Secrets
}

export interface DeliveryRoutesOptions {
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  /** Throws `EyrieError` (`unavailable`) until the management service has started. */
  services(): DeliveryServices
}

/**
 * Routes by which the scheduler claims notifications, sends them, and reports the results. They
 * check no token: that is done where they are mounted.
 */
export function createDeliveryRoutes({ database, services }: DeliveryRoutesOptions): Hono {
  const app = new Hono()
  const limitBody = limitBodySize(MAX_BODY_BYTES)

  app.post(deliveryClaimRoute.path, limitBody, async c => {
    const claim = await parseJsonBody(c, deliveryClaimRoute.body)
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

  app.post(deliveryResultsRoute.path, limitBody, async c => {
    const { results } = await parseJsonBody(c, deliveryResultsRoute.body)
    await database().system('deliveries', tx => storeResults(tx, results))
    return c.json({})
  })

  // Responds when deliveries are due that the scheduler does not know of yet, or after a timeout.
  app.get(deliveryChangesRoute.path, async c => {
    const known = parseAs(deliveryChangesRoute.query, c.req.query())
    const version = await services().deliveryChanges.waitForChange(
      known.version,
      CHANGE_TIMEOUT_MS,
      c.req.raw.signal,
    )
    return c.json({ version })
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

  return app
}

/**
 * Returns the settings of the senders that these deliveries need, with their secrets. The settings
 * of the other senders are null.
 */
async function readSettings(
  tx: Transaction,
  deliveries: readonly ClaimedDelivery[],
  secrets: Secrets,
) {
  const types = new Set(deliveries.map(({ type }) => type))
  return {
    smtp: types.has('email') ? await readStoredSettings(tx, smtpKind, secrets) : null,
    sms: types.has('sms') ? await readStoredSettings(tx, smsKind, secrets) : null,
    vapid_key: types.has('push') ? await readOrCreateVapidKey(tx, secrets) : null,
  }
}
