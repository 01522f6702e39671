import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { and, eq, exists, inArray, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { alert, channel, engineState } from '../db/schema/index.ts'
import { advanceMovingAverage, OCCUPANCY_AVERAGE } from '../events/statistics/contribution.ts'
import { readLatestValues } from '../events/statistics/latest-values.ts'
import { selectSamples } from '../events/statistics/samples.ts'
import { type ActiveAlert, advanceStanding, loadActiveAlerts, storeStandings } from './active-alerts.ts'
import { computeStatistic, evaluateAlert, toStoredKeys } from './evaluate-alert.ts'
import { type FiredAlert, storeNotifications } from './store-notifications.ts'

/** Messages arrive a little later than their frames: alerts are evaluated for the time before this delay. */
const MESSAGE_DELAY_MS = 2000

/**
 * Evaluates all active alerts for the current time. This fires the alerts whose condition starts to hold because time passes,
 * such as "no events for a minute". Alerts of offline engines are skipped: from them, silence proves nothing.
 */
export async function evaluateByTime(database: Database, now: number): Promise<void> {
  const timeMs = now - MESSAGE_DELAY_MS
  const changedIds = await database.system('alerts', async tx => {
    const alerts = await loadActiveAlerts(tx, isEngineOnline(tx), { locked: false })
    const { changed } = await evaluateAlerts(tx, alerts, timeMs)
    return changed.map(({ alert_id }) => alert_id)
  })
  if (changedIds.length === 0) return
  // Evaluated again under a lock, since messages may have arrived in between.
  await database.system('alerts', async tx => {
    const alerts = await loadActiveAlerts(tx, inArray(alert.alert_id, changedIds), { locked: true })
    const { fired, changed } = await evaluateAlerts(tx, alerts, timeMs)
    await storeNotifications(tx, fired)
    await storeStandings(tx, changed)
  })
}

/** Returns the alerts that fire and the alerts whose standing has changed. */
async function evaluateAlerts(
  tx: Transaction,
  alerts: readonly ActiveAlert[],
  timeMs: number,
): Promise<{ fired: FiredAlert[]; changed: ActiveAlert[] }> {
  const fired: FiredAlert[] = []
  const changed: ActiveAlert[] = []
  // A message of a later time has already decided the others.
  const due = alerts.filter(({ standing: { evaluatedAt = timeMs } }) => evaluatedAt <= timeMs)
  for (const [seconds, group] of Map.groupBy(due, each => each.seconds)) {
    const statistics = await readStatistics(tx, group, seconds, timeMs)
    for (const alert of group) {
      const statistic = statistics.get(alert)
      const evaluation = evaluateAlert(alert, alert.standing, { cause: 'time', timeMs, statistic })
      if (evaluation.fires) fired.push({ alert, timeMs, value: statistic!, frame: undefined })
      if (!evaluation.fires && evaluation.holds === alert.standing.holds) continue
      alert.standing = advanceStanding(alert.standing, timeMs, evaluation)
      changed.push(alert)
    }
  }
  return { fired, changed }
}

const isEngineOnline = (tx: Transaction) =>
  exists(
    tx
      .select({ one: sql`1` })
      .from(channel)
      .innerJoin(engineState, eq(engineState.engine_id, channel.engine_id))
      .where(
        and(eq(channel.channel_id, alert.channel_id), eq(engineState.engine_status, ENGINE_STATUS.online)),
      ),
  )

type Total = { channel_id: string; key: string; sum: number; count: number }

/** Computes the statistics of alerts over the `seconds` before `timeMs`; undefined where there are no values. */
async function readStatistics(
  tx: Transaction,
  alerts: readonly ActiveAlert[],
  seconds: number,
  timeMs: number,
): Promise<Map<ActiveAlert, number | undefined>> {
  const channelIds = [...new Set(alerts.map(({ channel_id }) => channel_id))]
  const keys = [...new Set(alerts.flatMap(({ key }) => toStoredKeys(key)))]
  const period = { from: timeMs - seconds * 1000 + 1, to: timeMs + 1 }
  const totals = await tx.execute<Total>(
    sql`select channel_id, key, sum(sum)::float8 as sum, sum(count)::float8 as count
      from (${selectSamples(channelIds, keys, period, true)}) s group by channel_id, key`,
  )
  const latestValues = await readLatestValues(tx, channelIds, [...keys, 'occupancy'], period.to)

  return new Map(alerts.map(alert => [alert, computeFor(alert)]))

  function computeFor({ channel_id, key, aggregation }: ActiveAlert): number | undefined {
    const total = totals.find(row => row.channel_id === channel_id && row.key === key)
    const findLatest = (name: string) =>
      latestValues.find(row => row.channel_id === channel_id && row.key === name)
    let last = findLatest(key)?.value
    if (last === undefined && key === 'moving_average_count') {
      const average = findLatest(OCCUPANCY_AVERAGE)
      const occupancy = findLatest('occupancy')
      if (average && occupancy)
        last = advanceMovingAverage(average.value, occupancy.value, timeMs - average.timeMs, seconds)
    }
    return computeStatistic(aggregation, { sum: total?.sum ?? 0, count: total?.count ?? 0, last })
  }
}
