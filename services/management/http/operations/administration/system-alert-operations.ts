import { systemAlertRoutes } from '@eyrie/contract/management/system-alert'
import { and, desc, eq, getTableColumns, isNotNull, isNull } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { source, systemAlert } from '../../../db/schema/index.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { acknowledgeAlert, type SystemAlertRow } from '../../../system-alerts/alert-store.ts'
import {
  readRedactedSystemAlertSettings,
  updateSystemAlertSettings,
} from '../../../system-alerts/system-alert-settings.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'
import { UnchangeableRecordError } from '../../api/policy-errors.ts'

const STATE_CONDITIONS = {
  open: isNull(systemAlert.ended_at),
  closed: isNotNull(systemAlert.ended_at),
}

/**
 * API operations on system alerts, which report failures of cameras, engines and the appliance, and
 * on the settings that decide how they are sent.
 */
export const systemAlertOperations = (secrets: Secrets, now: () => Date): Operation[] => [
  defineOperation(systemAlertRoutes.get, async ({ input }, tx) => ({
    value: await getAlert(tx, input.system_alert_id),
  })),

  defineOperation(systemAlertRoutes.list, async ({ input }, tx) => {
    const { system_alert_kind: kind, system_alert_state: state } = input
    const { site_id, engine_id, source_id } = input
    const rows = await selectAlerts(tx)
      .where(
        and(
          kind ? eq(systemAlert.kind, kind) : undefined,
          state ? STATE_CONDITIONS[state] : undefined,
          site_id ? eq(source.site_id, site_id) : undefined,
          engine_id ? eq(systemAlert.engine_id, engine_id) : undefined,
          source_id ? eq(systemAlert.source_id, source_id) : undefined,
        ),
      )
      .orderBy(desc(systemAlert.opened_at), desc(systemAlert.system_alert_id))
      .limit(input.system_alert_limit)
      .offset(input.system_alert_offset)
    return { value: rows.map(toSystemAlert) }
  }),

  defineOperation(systemAlertRoutes.acknowledge, async ({ input, caller }, tx) => {
    const { system_alert_id: alertId } = input
    // Throws if the alert does not exist. Otherwise only the rights of the caller can be missing.
    await getAlert(tx, alertId)
    const isAcknowledged = await acknowledgeAlert(tx, alertId, caller.user_id, now())
    if (!isAcknowledged) throw new UnchangeableRecordError()
    return { value: await getAlert(tx, alertId) }
  }),

  defineOperation(systemAlertRoutes.getSettings, async (_, tx) => ({
    value: await readRedactedSystemAlertSettings(tx),
  })),

  defineOperation(systemAlertRoutes.updateSettings, async ({ input }, tx) => {
    await updateSystemAlertSettings(tx, input, secrets)
  }),
]

const selectAlerts = (tx: Transaction) =>
  tx
    .select({ ...getTableColumns(systemAlert), site_id: source.site_id })
    .from(systemAlert)
    .leftJoin(source, eq(source.source_id, systemAlert.source_id))
    .$dynamic()

/**
 * Returns a system alert as the API shows it. Throws `EyrieError` (`id`) if it does not exist or is
 * invisible to the caller.
 */
async function getAlert(tx: Transaction, systemAlertId: string) {
  const [row] = await selectAlerts(tx).where(eq(systemAlert.system_alert_id, systemAlertId))
  if (!row) throw missingRecords([{ field: 'system_alert_id', record: 'system_alert' }])
  return toSystemAlert(row)
}

const toSystemAlert = (row: SystemAlertRow & { site_id: string | null }) => ({
  ...row,
  system_alert_kind: row.kind,
  system_alert_state: row.ended_at ? ('closed' as const) : ('open' as const),
  system_alert_subject: row.subject_name,
  system_alert_message: row.message,
})
