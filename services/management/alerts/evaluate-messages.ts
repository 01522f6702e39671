import { inArray, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { alert } from '../db/schema/index.ts'
import type { ContributingMessage, MessageSubscriber } from '../events/ingest/ingest-port.ts'
import { selectSamples } from '../events/statistics/samples.ts'
import { type ArmedAlerts, loadArmedAlerts } from '../schedules/armed-alerts.ts'
import {
  type ActiveAlert,
  evaluateActiveAlert,
  loadActiveAlerts,
  restartEvaluation,
  storeAlertStates,
} from './active-alerts.ts'
import { computeStatistic, listStoredKeys } from './evaluate-alert.ts'
import { SlidingWindow, type TimedAmount, type WindowAmount } from './sliding-window.ts'
import { type FiredAlert, storeNotifications } from './store-notifications.ts'

/**
 * Evaluates the alerts of a channel whenever messages of its engine add to its statistics, and stores the notifications of
 * the alerts that fire. An alert compares a statistic over a sliding time window with a threshold.
 */
export const alertSubscriber: MessageSubscriber = {
  async beforeStore(tx, messages) {
    const fired = await evaluateMessages(tx, messages)
    return () => storeNotifications(tx, fired)
  },
}

/**
 * Returns the alerts that new messages fire. Each alert is evaluated for every message, with the statistic at the time
 * of that message, so the result does not depend on how messages are batched. Called before the messages are stored.
 */
async function evaluateMessages(
  tx: Transaction,
  messages: readonly ContributingMessage[],
): Promise<FiredAlert[]> {
  const messagesByChannel = Map.groupBy(messages, ({ channel_id }) => channel_id)
  if (messagesByChannel.size === 0) return []

  const isOnChannel = inArray(alert.channel_id, [...messagesByChannel.keys()])
  const alerts = await loadActiveAlerts(tx, isOnChannel, { locked: true })
  const previousStates = new Map(alerts.map(({ alert_id, state }) => [alert_id, state]))

  const armed = await loadArmedAlerts(tx, [...previousStates.keys()], findPeriod(messages))

  // The queries for all windows are sent at once: one round trip for each would take most of the time of the transaction.
  const evaluations: Promise<FiredAlert[]>[] = []
  const alertsByChannel = Map.groupBy(alerts, alert => alert.channel_id)
  for (const [channel_id, channelMessages] of messagesByChannel) {
    const channelAlerts = alertsByChannel.get(channel_id) ?? []
    // Alerts on the same statistic share its window.
    for (const [key, keyAlerts] of Map.groupBy(channelAlerts, alert => alert.statisticKey))
      evaluations.push(evaluateKey(tx, key, keyAlerts, channelMessages, armed))
  }
  const fired = (await Promise.all(evaluations)).flat()

  const changed = alerts.filter(({ alert_id, state }) => state !== previousStates.get(alert_id))
  await storeAlertStates(tx, changed)
  return fired
}

/** Evaluates the alerts on one statistic of a channel, message by message. */
async function evaluateKey(
  tx: Transaction,
  key: string,
  alerts: ActiveAlert[],
  messages: readonly ContributingMessage[],
  armed: ArmedAlerts,
): Promise<FiredAlert[]> {
  const storedKeys = listStoredKeys(key)
  const contributing = messages.filter(({ contribution }) => storedKeys.some(name => name in contribution))
  if (contributing.length === 0) return []

  // Alerts of the same channel and key have the same window and aggregation.
  const firstAlert = alerts[0]!
  const window = await loadWindow(tx, firstAlert, contributing)
  const fired: FiredAlert[] = []
  for (const { timeMs, contribution, frame } of contributing) {
    const storedKey = storedKeys.find(name => contribution[name] !== undefined)!
    const added = contribution[storedKey]!
    window.add({ timeMs, sum: added, count: 1 })
    const { sum, count } = window.advanceTo(timeMs)
    const statistic = computeStatistic(firstAlert.aggregation, { sum, count, last: added })

    for (const alert of alerts) {
      if (!armed.isArmedAt(alert.alert_id, timeMs)) {
        alert.state = restartEvaluation(alert.state, timeMs)
        continue
      }
      const { fires, releasedMs } = evaluateActiveAlert(alert, { cause: 'message', timeMs, statistic })
      if (fires) fired.push({ alert, timeMs, value: statistic!, releasedMs, frame })
    }
  }
  return fired
}

function findPeriod(messages: readonly ContributingMessage[]) {
  const times = messages.map(({ timeMs }) => timeMs)
  return { from: Math.min(...times), to: Math.max(...times) }
}

/** Loads the window of an alert, as it was before the first of these messages. */
async function loadWindow(
  tx: Transaction,
  { channel_id, statisticKey, windowSeconds }: ActiveAlert,
  messages: readonly ContributingMessage[],
): Promise<SlidingWindow> {
  const windowMs = windowSeconds * 1000
  const { from: firstMs, to: lastMs } = findPeriod(messages)
  const from = firstMs - windowMs + 1

  // Stored values may be later than the first of these messages, because messages arrive slightly out of order.
  const stored = selectSamples([channel_id], [statisticKey], { from, to: lastMs + 1 }, 'minute')
  const initialQuery = tx.execute<WindowAmount & Record<string, unknown>>(
    sql`select coalesce(sum(sum), 0)::float8 as sum, coalesce(sum(count), 0)::float8 as count from (${stored}) s`,
  )

  // The values that leave the window while it moves from the first to the last message.
  const leaving = selectSamples([channel_id], [statisticKey], { from, to: lastMs - windowMs + 1 }, 'exact')
  const leavingQuery = tx.execute<TimedAmount & Record<string, unknown>>(
    sql`select extract(epoch from time)::float8 * 1000 as "timeMs", sum, count::float8
      from (${leaving}) s order by time, seq`,
  )
  const [[initial], leavingAmounts] = await Promise.all([initialQuery, leavingQuery])
  return new SlidingWindow(windowMs, initial!, leavingAmounts)
}
