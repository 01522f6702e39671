import type { AlertAction } from '@eyrie/contract/management/alert'
import type { KindSettings, SystemAlertSettings } from '@eyrie/contract/management/system-alert'
import { systemAlertKind } from '@eyrie/contract/management/system-alert-kind'
import { and, asc, eq, inArray, isNotNull, isNull, lte, or, type SQL } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { role, setting, site, systemAlert, user } from '../db/schema/index.ts'
import { findActionType } from '../deliveries/action-type.ts'
import { smtpKind } from '../deliveries/delivery-settings.ts'
import { storeDeliveries } from '../deliveries/outbox.ts'
import { readRedactedSettings } from '../settings/stored-settings.ts'
import { createAlertRequest, type Occasion } from './alert-message.ts'
import { type SystemAlertRow, toReport } from './alert-store.ts'
import { findSummaryDate } from './rules/summary-time.ts'

/**
 * Alerts that begin within this time share a message: a switch that fails disconnects many cameras.
 */
const COLLECT_MS = 10_000
const HOUR_MS = 3_600_000
/** Name of the `setting` row with the date of the last daily summary. */
const SUMMARY_SETTING = 'system_alert_summary'
/** The default address of the first administrator, to which no e-mail can be sent. */
const LOCAL_ADDRESS = /@localhost$/i

/** What the messages of one evaluation have in common. */
interface Evaluation {
  tx: Transaction
  settings: SystemAlertSettings
  /** The actions that send the messages. */
  actions: readonly AlertAction[]
  now: Date
}

/**
 * Stores the messages that are due: about alerts that have begun, have ended or are ignored,
 * and the daily summary.
 */
export async function storeAlertDeliveries(
  tx: Transaction,
  settings: SystemAlertSettings,
  nowMs: number,
): Promise<void> {
  const actions = await findActions(tx, settings)
  const evaluation = { tx, settings, actions, now: new Date(nowMs) }
  await reportNewAlerts(evaluation)
  await reportEndedAlerts(evaluation)
  if (settings.repeat_hours > 0) await repeatIgnoredAlerts(evaluation)
  if (await claimSummary(tx, settings, nowMs)) await reportSummary(evaluation)
}

// Conditions on columns of `systemAlert`.

const whereOpen = isNull(systemAlert.ended_at)
const whereIgnored = and(whereOpen, isNull(systemAlert.acknowledged_at))

/**
 * Selects the alerts of the kinds about which messages are sent at once, or in the daily summary.
 */
function whereDelivered({ kinds }: SystemAlertSettings, delivery: KindSettings['delivery']): SQL {
  const delivered = systemAlertKind.options.filter(
    kind => kinds[kind].is_enabled && kinds[kind].delivery === delivery,
  )
  return inArray(systemAlert.kind, delivered)
}

async function reportNewAlerts(evaluation: Evaluation): Promise<void> {
  const { tx, settings, now } = evaluation
  const whereNew = and(
    whereDelivered(settings, 'immediate'),
    isNull(systemAlert.notified_at),
    whereOpen,
  )
  const [oldest] = await tx
    .select({ opened_at: systemAlert.opened_at })
    .from(systemAlert)
    .where(whereNew)
    .orderBy(asc(systemAlert.opened_at))
    .limit(1)
  if (!oldest || now.getTime() - oldest.opened_at.getTime() < COLLECT_MS) return
  await storeMessages(evaluation, 'began', whereNew, { notified_at: now, repeated_at: now })
}

async function reportEndedAlerts(evaluation: Evaluation): Promise<void> {
  const { tx, settings, now } = evaluation
  const whereEnded = and(
    whereDelivered(settings, 'immediate'),
    isNotNull(systemAlert.ended_at),
    isNull(systemAlert.end_notified_at),
  )
  const mark = { end_notified_at: now }
  if (!settings.is_end_reported) {
    await tx.update(systemAlert).set(mark).where(whereEnded)
    return
  }
  // The end of an alert is reported only if its beginning was reported.
  const whereReported = isNotNull(systemAlert.notified_at)
  await storeMessages(evaluation, 'ended', and(whereEnded, whereReported), mark)
}

async function repeatIgnoredAlerts(evaluation: Evaluation): Promise<void> {
  const { settings, now } = evaluation
  const repeatedUntil = new Date(now.getTime() - settings.repeat_hours * HOUR_MS)
  const whereDue = and(
    whereDelivered(settings, 'immediate'),
    whereIgnored,
    lte(systemAlert.repeated_at, repeatedUntil),
  )
  await storeMessages(evaluation, 'lasts', whereDue, { repeated_at: now })
}

async function reportSummary(evaluation: Evaluation): Promise<void> {
  const { settings, now } = evaluation
  // The summary lists alerts that are new since the last one, even if they have ended, and open
  // alerts without an acknowledgement.
  const whereMentioned = or(isNull(systemAlert.notified_at), whereIgnored)
  const whereSummarized = and(whereDelivered(settings, 'daily_summary'), whereMentioned)
  const mark = { notified_at: now, repeated_at: now }
  await storeMessages(evaluation, 'summary', whereSummarized, mark)
}

/**
 * Stores one message for each action about all alerts that meet a condition. Marks these alerts as
 * reported by writing the fields of `mark`.
 */
async function storeMessages(
  { tx, actions, now }: Evaluation,
  occasion: Occasion,
  condition: SQL | undefined,
  mark: Partial<SystemAlertRow>,
): Promise<void> {
  const rows = await tx
    .select()
    .from(systemAlert)
    .where(condition)
    .orderBy(asc(systemAlert.opened_at))
  const [first] = rows
  if (!first) return
  const reports = rows.map(toReport)
  const deliveries = actions.map(action => ({
    kind: 'system_alert' as const,
    system_alert_id: first.system_alert_id,
    request: createAlertRequest(action, occasion, reports, now),
  }))
  await storeDeliveries(tx, deliveries)
  const ids = rows.map(({ system_alert_id }) => system_alert_id)
  await tx.update(systemAlert).set(mark).where(inArray(systemAlert.system_alert_id, ids))
}

/**
 * Returns the configured actions; by default an e-mail to the first administrator. Omits e-mails if
 * no mail server is configured.
 */
async function findActions(
  tx: Transaction,
  { actions }: SystemAlertSettings,
): Promise<AlertAction[]> {
  const { smtp_host: smtpHost } = await readRedactedSettings(tx, smtpKind)
  const configured = actions.length > 0 ? actions : [await createDefaultAction(tx)]
  return configured.filter(action => smtpHost !== '' || findActionType(action) !== 'email')
}

async function createDefaultAction(tx: Transaction): Promise<AlertAction> {
  const [first] = await tx
    .select({ email: user.email })
    .from(user)
    .innerJoin(role, eq(role.role_id, user.role_id))
    .where(eq(role.role_key, 'superadmin'))
    .orderBy(asc(user.created_at), asc(user.user_id))
    .limit(1)
  const isReachable = first && !LOCAL_ADDRESS.test(first.email)
  // An e-mail without a receiver goes to the receiver in the settings of the mail server.
  return { action_type: 'email', ...(isReachable && { action_to: first.email }) }
}

/**
 * Returns whether the daily summary is due, and records that it is sent today. The first call after
 * the installation only records the date.
 */
async function claimSummary(
  tx: Transaction,
  settings: SystemAlertSettings,
  nowMs: number,
): Promise<boolean> {
  const timezone = settings.summary_timezone || (await findFirstTimezone(tx))
  const date = findSummaryDate(nowMs, settings.summary_time, timezone)
  const [last] = await tx.select().from(setting).where(eq(setting.name, SUMMARY_SETTING))
  const lastDate = (last?.value as { date: string } | undefined)?.date
  if (lastDate !== undefined && date <= lastDate) return false
  const value = { date }
  await tx
    .insert(setting)
    .values({ name: SUMMARY_SETTING, value })
    .onConflictDoUpdate({ target: setting.name, set: { value } })
  const isFirstCall = lastDate === undefined
  return !isFirstCall
}

async function findFirstTimezone(tx: Transaction): Promise<string> {
  const [first] = await tx
    .select({ timezone: site.site_timezone })
    .from(site)
    .orderBy(asc(site.created_at), asc(site.site_id))
    .limit(1)
  return first?.timezone ?? 'UTC'
}
