import type { AlertAction } from '@eyrie/contract/management/alert'
import type { SystemAlertSettings } from '@eyrie/contract/management/system-alert'
import { and, asc, eq, inArray, isNotNull, isNull, lte, or, type SQL } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { role, setting, site, systemAlert, user } from '../db/schema/index.ts'
import { findActionType } from '../deliveries/action-type.ts'
import { readRedactedSettings, smtpKind } from '../deliveries/delivery-settings.ts'
import { storeDeliveries } from '../deliveries/outbox.ts'
import { createAlertRequest, type Occasion } from './alert-message.ts'
import { type SystemAlertRow, toReport } from './alert-store.ts'
import { findSummaryDate } from './rules/summary-time.ts'

/** Alerts that begin within this time share a message: a switch that fails disconnects many cameras. */
const COLLECT_MS = 10_000
const HOUR_MS = 3_600_000
/** The `setting` row with the date of the last daily summary. */
const SUMMARY = 'system_alert_summary'

/** Stores the deliveries that are due: about alerts that have begun, last or have ended, and the daily summary. */
export async function storeAlertDeliveries(
  tx: Transaction,
  settings: SystemAlertSettings,
  nowMs: number,
): Promise<void> {
  const now = new Date(nowMs)
  const actions = await findActions(tx, settings)
  const kindsOf = (delivery: 'immediate' | 'daily_summary') =>
    Object.entries(settings.kinds).flatMap(([kind, settings]) =>
      settings.is_enabled && settings.delivery === delivery ? [kind as SystemAlertRow['kind']] : [],
    )
  const immediate = inArray(systemAlert.kind, kindsOf('immediate'))

  /** Sends one message about all alerts that meet a condition, and marks them. */
  async function send(occasion: Occasion, condition: SQL | undefined, mark: Partial<SystemAlertRow>) {
    const rows = await tx.select().from(systemAlert).where(condition).orderBy(asc(systemAlert.opened_at))
    const [first] = rows
    if (!first) return
    await storeMessages(tx, occasion, rows, actions, now)
    const ids = rows.map(({ system_alert_id }) => system_alert_id)
    await tx.update(systemAlert).set(mark).where(inArray(systemAlert.system_alert_id, ids))
  }

  const isNew = and(immediate, isNull(systemAlert.notified_at), isNull(systemAlert.ended_at))
  const [oldest] = await tx
    .select({ opened_at: systemAlert.opened_at })
    .from(systemAlert)
    .where(isNew)
    .orderBy(asc(systemAlert.opened_at))
    .limit(1)
  if (oldest && nowMs - oldest.opened_at.getTime() >= COLLECT_MS)
    await send('began', isNew, { notified_at: now, repeated_at: now })

  const hasEnded = and(isNotNull(systemAlert.ended_at), isNull(systemAlert.end_notified_at))
  if (settings.is_end_reported)
    await send('ended', and(immediate, hasEnded, isNotNull(systemAlert.notified_at)), {
      end_notified_at: now,
    })
  else await tx.update(systemAlert).set({ end_notified_at: now }).where(and(immediate, hasEnded))

  if (settings.repeat_hours > 0) {
    const before = new Date(nowMs - settings.repeat_hours * HOUR_MS)
    const isIgnored = and(isNull(systemAlert.ended_at), isNull(systemAlert.acknowledged_at))
    await send('lasts', and(immediate, isIgnored, lte(systemAlert.repeated_at, before)), { repeated_at: now })
  }

  if (await claimSummary(tx, settings, nowMs)) {
    const isUnreported = isNull(systemAlert.notified_at)
    const lasts = and(isNull(systemAlert.ended_at), isNull(systemAlert.acknowledged_at))
    const summarized = inArray(systemAlert.kind, kindsOf('daily_summary'))
    await send('summary', and(summarized, or(isUnreported, lasts)), { notified_at: now, repeated_at: now })
  }
}

/** Stores a message about alerts for each action. */
async function storeMessages(
  tx: Transaction,
  occasion: Occasion,
  rows: readonly SystemAlertRow[],
  actions: readonly AlertAction[],
  now: Date,
): Promise<void> {
  const system_alert_id = rows[0]!.system_alert_id
  const reports = rows.map(toReport)
  const deliveries = actions.map(action => ({
    kind: 'system_alert' as const,
    system_alert_id,
    request: createAlertRequest(action, occasion, reports, now),
  }))
  await storeDeliveries(tx, deliveries)
}

/** Returns the configured actions; by default an e-mail to the first administrator. Without a mail server, there is no e-mail. */
async function findActions(tx: Transaction, { actions }: SystemAlertSettings): Promise<AlertAction[]> {
  const { smtp_host } = await readRedactedSettings(tx, smtpKind)
  const wanted = actions.length > 0 ? actions : [await createDefaultAction(tx)]
  return wanted.filter(action => smtp_host !== '' || findActionType(action) !== 'email')
}

/** The address of an administrator whose e-mail was never set. The mail settings name a receiver then. */
const LOCAL_ADDRESS = /@localhost$/i

async function createDefaultAction(tx: Transaction): Promise<AlertAction> {
  const [first] = await tx
    .select({ email: user.email })
    .from(user)
    .innerJoin(role, eq(role.role_id, user.role_id))
    .where(eq(role.role_key, 'superadmin'))
    .orderBy(asc(user.created_at), asc(user.user_id))
    .limit(1)
  const isReachable = first && !LOCAL_ADDRESS.test(first.email)
  return { action_type: 'email', ...(isReachable && { action_to: first.email }) }
}

/** Returns whether the daily summary is due, and remembers that it was sent. The first one follows after the first start. */
async function claimSummary(tx: Transaction, settings: SystemAlertSettings, nowMs: number): Promise<boolean> {
  const timezone = settings.summary_timezone || (await findFirstTimezone(tx))
  const date = findSummaryDate(nowMs, settings.summary_time, timezone)
  const [last] = await tx.select().from(setting).where(eq(setting.name, SUMMARY))
  const lastDate = (last?.value as { date: string } | undefined)?.date
  if (lastDate !== undefined && date <= lastDate) return false
  const value = { date }
  await tx
    .insert(setting)
    .values({ name: SUMMARY, value })
    .onConflictDoUpdate({ target: setting.name, set: { value } })
  return lastDate !== undefined
}

async function findFirstTimezone(tx: Transaction): Promise<string> {
  const [first] = await tx
    .select({ timezone: site.site_timezone })
    .from(site)
    .orderBy(asc(site.created_at), asc(site.site_id))
    .limit(1)
  return first?.timezone ?? 'UTC'
}
