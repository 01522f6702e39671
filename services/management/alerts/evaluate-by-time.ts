import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { computeStatistic } from '@eyrie/contract/management/statistic'
import { and, eq, exists, gte, inArray, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { alert, channel, engineState, lease } from '../db/schema/index.ts'
import { MESSAGE_DELAY_MS } from '../events/message-delay.ts'
import {
  advanceMovingAverage,
  MOVING_AVERAGE,
  OCCUPANCY,
  OCCUPANCY_AVERAGE,
} from '../events/statistics/contribution.ts'
import { type LatestValue, readLatestValues } from '../events/statistics/latest-values.ts'
import { selectSamples } from '../events/statistics/samples.ts'
import { loadArmedAlerts } from '../schedules/armed-alerts.ts'
import {
  type ActiveAlert,
  loadActiveAlerts,
  type StoredAlertState,
  storeAlertStates,
} from './active-alerts.ts'
import { evaluateActiveAlert, restartEvaluation } from './evaluate-active-alert.ts'
import { listStoredKeys } from './evaluate-alert.ts'
import { type FiredAlert, storeNotifications } from './store-notifications.ts'

/** How much later than now an evaluation may be. */
const MAX_LEAD_MS = 60_000

/**
 * Evaluates all active alerts for the current time `now` (epoch ms). This fires the alerts whose
 * condition starts to hold because time passes, such as "no events for a minute". Alerts of engines
 * whose messages up to that moment are not all stored are skipped: what is missing here may have
 * happened. So are those of offline engines.
 */
export async function evaluateByTime(database: Database, now: number): Promise<void> {
  const timeMs = now - MESSAGE_DELAY_MS
  const changedIds = await database.system('alerts', async tx => {
    const alerts = await loadActiveAlerts(tx, whereOutputStored(tx), { locked: false })
    const { changed } = await evaluateAlerts(tx, alerts, timeMs)
    return changed.map(({ alert_id }) => alert_id)
  })
  if (changedIds.length === 0) return

  // Evaluates the changed alerts again under a lock, because messages may have arrived in between.
  await database.system('alerts', async tx => {
    const alerts = await loadActiveAlerts(tx, inArray(alert.alert_id, changedIds), { locked: true })
    const { fired, changed } = await evaluateAlerts(tx, alerts, timeMs)
    await storeNotifications(tx, fired)
    await storeAlertStates(tx, changed)
  })
}

/**
 * Evaluates the alerts that are due, and updates their states in memory. Returns the alerts that
 * fire and the alerts whose state has changed.
 */
async function evaluateAlerts(
  tx: Transaction,
  alerts: readonly ActiveAlert[],
  timeMs: number,
): Promise<{ fired: FiredAlert[]; changed: ActiveAlert[] }> {
  const fired: FiredAlert[] = []
  const changed: ActiveAlert[] = []
  const dueAlerts = alerts.filter(({ state }) => isDue(state, timeMs))
  const dueIds = dueAlerts.map(({ alert_id }) => alert_id)
  const { isArmedAt } = await loadArmedAlerts(tx, dueIds, { from: timeMs, to: timeMs })
  const alertsByArmed = Map.groupBy(dueAlerts, ({ alert_id }) => isArmedAt(alert_id, timeMs))

  const disarmed = alertsByArmed.get(false) ?? []
  for (const alert of disarmed) {
    // Without a result of an evaluation, there is nothing to restart.
    if (alert.state.holds === undefined) continue
    alert.state = restartEvaluation(alert.state, timeMs)
    changed.push(alert)
  }

  const armed = alertsByArmed.get(true) ?? []
  for (const [windowSeconds, windowAlerts] of Map.groupBy(armed, alert => alert.windowSeconds)) {
    const statistics = await readStatistics(tx, windowAlerts, windowSeconds, timeMs)
    for (const alert of windowAlerts) {
      const statistic = statistics.get(alert)
      const evaluation = evaluateActiveAlert(alert, { cause: 'time', timeMs, statistic })
      const { fires, hasChanged, previousReleasedAt } = evaluation
      if (fires && statistic !== undefined) {
        fired.push({ alert, timeMs, value: statistic, previousReleasedAt, frame: undefined })
      }
      if (hasChanged) changed.push(alert)
    }
  }
  return { fired, changed }
}

/**
 * Returns whether an alert is to be evaluated. A message may have caused a later evaluation; a much
 * later one was caused by a clock that was ahead.
 */
const isDue = ({ evaluatedAt }: StoredAlertState, timeMs: number) =>
  evaluatedAt === undefined || evaluatedAt <= timeMs || evaluatedAt > timeMs + MAX_LEAD_MS

/**
 * Returns the condition that the channel of an alert is on an engine that is online, and whose
 * messages are stored up to the evaluated moment. A stored status alone proves nothing: it may be
 * left from a service that was killed, and an engine that returns has yet to send what it missed.
 */
const whereOutputStored = (tx: Transaction) =>
  exists(
    tx
      .select({ one: sql`1` })
      .from(channel)
      .innerJoin(engineState, eq(engineState.engine_id, channel.engine_id))
      .innerJoin(lease, eq(lease.subject, sql`${channel.engine_id}::text`))
      .where(
        and(
          eq(channel.channel_id, alert.channel_id),
          eq(engineState.engine_status, ENGINE_STATUS.online),
          gte(lease.stored_until, sql`clock_timestamp() - ${MESSAGE_DELAY_MS} * interval '1 ms'`),
        ),
      ),
  )

/** The sum and number of the values of a statistic of a channel within the window. */
type WindowTotal = { channel_id: string; key: string; sum: number; count: number }

/**
 * Returns the statistic of each alert over the `windowSeconds` before `timeMs`; undefined for a
 * statistic without values.
 */
async function readStatistics(
  tx: Transaction,
  alerts: readonly ActiveAlert[],
  windowSeconds: number,
  timeMs: number,
): Promise<Map<ActiveAlert, number | undefined>> {
  const channelIds = [...new Set(alerts.map(({ channel_id }) => channel_id))]
  const keys = [...new Set(alerts.flatMap(({ statisticKey }) => listStoredKeys(statisticKey)))]
  const period = { from: timeMs - windowSeconds * 1000 + 1, to: timeMs + 1 }
  const totals = await tx.execute<WindowTotal>(
    sql`select channel_id, key, sum(sum)::float8 as sum, sum(count)::float8 as count
      from (${selectSamples(channelIds, keys, period, 'minute')}) s group by channel_id, key`,
  )
  const latestValues = await readLatestValues(tx, channelIds, [...keys, OCCUPANCY], period.to)

  const statistics = new Map<ActiveAlert, number | undefined>()
  for (const alert of alerts) {
    const { channel_id: channelId, statisticKey, aggregation } = alert
    const total = totals.find(row => row.channel_id === channelId && row.key === statisticKey)
    const last = findLastValue(latestValues, alert, timeMs)
    const windowTotals = { sum: total?.sum ?? 0, count: total?.count ?? 0, last }
    statistics.set(alert, computeStatistic(aggregation, windowTotals))
  }
  return statistics
}

/**
 * Returns the latest value of an alert's statistic. If a moving average is not stored, it is
 * computed from the occupancy.
 */
function findLastValue(
  latestValues: readonly LatestValue[],
  { channel_id: channelId, statisticKey, windowSeconds }: ActiveAlert,
  timeMs: number,
): number | undefined {
  const findLatest = (name: string) =>
    latestValues.find(latest => latest.channel_id === channelId && latest.key === name)

  const latest = findLatest(statisticKey)
  if (latest) return latest.value
  if (statisticKey !== MOVING_AVERAGE) return undefined

  const average = findLatest(OCCUPANCY_AVERAGE)
  const occupancy = findLatest(OCCUPANCY)
  if (!average || !occupancy) return undefined
  return advanceMovingAverage(
    average.value,
    occupancy.value,
    timeMs - average.timeMs,
    windowSeconds,
  )
}
