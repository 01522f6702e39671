import { inArray } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { alert } from '../db/schema/index.ts'
import type { ContributingMessage, MessageSubscriber } from '../events/ingest/ingest-port.ts'
import { type ArmedAlerts, loadArmedAlerts } from '../schedules/armed-alerts.ts'
import {
  type ActiveAlert,
  evaluateActiveAlert,
  loadActiveAlerts,
  restartEvaluation,
  storeAlertStates,
} from './active-alerts.ts'
import { computeStatistic, listStoredKeys } from './evaluate-alert.ts'
import { loadWindows, type MovingWindow } from './load-windows.ts'
import type { SlidingWindow } from './sliding-window.ts'
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

  const groups = groupByStatistic(alerts, messagesByChannel)
  const windows = await loadWindows(tx, groups.map(toMovingWindow))
  const fired = groups.flatMap((group, i) => evaluateGroup(group, windows[i]!, armed))

  const changed = alerts.filter(({ alert_id, state }) => state !== previousStates.get(alert_id))
  await storeAlertStates(tx, changed)
  return fired
}

/** The alerts on one statistic of a channel, which share its window, and the messages that add to the statistic. */
interface StatisticAlerts {
  storedKeys: readonly string[]
  alerts: readonly ActiveAlert[]
  /** At least one, in order of arrival. */
  messages: readonly ContributingMessage[]
}

function groupByStatistic(
  alerts: readonly ActiveAlert[],
  messagesByChannel: ReadonlyMap<string, readonly ContributingMessage[]>,
): StatisticAlerts[] {
  const groups: StatisticAlerts[] = []
  for (const [channel_id, channelAlerts] of Map.groupBy(alerts, alert => alert.channel_id))
    for (const [key, keyAlerts] of Map.groupBy(channelAlerts, alert => alert.statisticKey)) {
      const storedKeys = listStoredKeys(key)
      const messages = messagesByChannel
        .get(channel_id)!
        .filter(({ contribution }) => storedKeys.some(name => name in contribution))
      if (messages.length > 0) groups.push({ storedKeys, alerts: keyAlerts, messages })
    }
  return groups
}

function toMovingWindow({ alerts, messages }: StatisticAlerts): MovingWindow {
  // Alerts of the same channel and key have the same window and aggregation.
  const { channel_id, statisticKey, windowSeconds } = alerts[0]!
  const { from, to } = findPeriod(messages)
  return { channel_id, key: statisticKey, lengthMs: windowSeconds * 1000, firstMs: from, lastMs: to }
}

/** Evaluates the alerts on one statistic of a channel, message by message. */
function evaluateGroup(
  { storedKeys, alerts, messages }: StatisticAlerts,
  window: SlidingWindow,
  armed: ArmedAlerts,
): FiredAlert[] {
  const { aggregation } = alerts[0]!
  const fired: FiredAlert[] = []
  for (const { timeMs, contribution, frame } of messages) {
    const storedKey = storedKeys.find(name => contribution[name] !== undefined)!
    const added = contribution[storedKey]!
    window.add({ timeMs, sum: added, count: 1 })
    const { sum, count } = window.advanceTo(timeMs)
    const statistic = computeStatistic(aggregation, { sum, count, last: added })

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
