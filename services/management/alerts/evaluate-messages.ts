import { type Aggregation, computeStatistic } from '@eyrie/contract/management/statistic'
import { inArray } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { alert } from '../db/schema/index.ts'
import type {
  ContributingMessage,
  MessageFrame,
  MessageSubscriber,
} from '../events/ingest/ingest-port.ts'
import { type ArmedAlerts, loadArmedAlerts } from '../schedules/armed-alerts.ts'
import { type ActiveAlert, loadActiveAlerts, storeAlertStates } from './active-alerts.ts'
import { evaluateActiveAlert, restartEvaluation } from './evaluate-active-alert.ts'
import { listStoredKeys } from './evaluate-alert.ts'
import { loadWindows, type MovingWindow } from './load-windows.ts'
import type { SlidingWindow } from './sliding-window.ts'
import { type FiredAlert, storeNotifications } from './store-notifications.ts'

/**
 * Evaluates the alerts of a channel whenever messages of its engine add to its statistics, and
 * stores the notifications of the alerts that fire. An alert compares a statistic over a sliding
 * time window with a threshold.
 */
export const alertSubscriber: MessageSubscriber = {
  async beforeStore(tx, messages) {
    const fired = await evaluateMessages(tx, messages)
    return () => storeNotifications(tx, fired)
  },
}

/**
 * Returns the alerts that new messages fire. Each alert is evaluated for every message, with the
 * statistic at the time of that message, so the result does not depend on how messages are batched.
 * Called before the messages are stored.
 */
async function evaluateMessages(
  tx: Transaction,
  messages: readonly ContributingMessage[],
): Promise<FiredAlert[]> {
  const messagesByChannel = Map.groupBy(messages, ({ channel_id }) => channel_id)
  if (messagesByChannel.size === 0) return []

  const channelIds = [...messagesByChannel.keys()]
  const alerts = await loadActiveAlerts(tx, inArray(alert.channel_id, channelIds), { locked: true })
  const previousStates = new Map(alerts.map(({ alert_id, state }) => [alert_id, state]))
  const armed = await loadArmedAlerts(tx, [...previousStates.keys()], findPeriod(messages))

  const groups = groupByStatistic(alerts, messagesByChannel)
  // There is one window for each group, in the same order.
  const windows = await loadWindows(tx, groups.map(toMovingWindow))
  const fired = groups.flatMap((group, index) => evaluateGroup(group, windows[index]!, armed))

  const changed = alerts.filter(({ alert_id, state }) => state !== previousStates.get(alert_id))
  await storeAlertStates(tx, changed)
  return fired
}

/** The alerts on one statistic of a channel, and the messages that add to the statistic. */
interface StatisticAlerts {
  channel_id: string
  /** Key of the statistic. */
  key: string
  aggregation: Aggregation
  windowSeconds: number
  alerts: readonly ActiveAlert[]
  /** At least one, in order of arrival. */
  messages: readonly StatisticMessage[]
}

/** What a message adds to a statistic. */
interface StatisticMessage {
  /** Epoch ms. */
  timeMs: number
  value: number
  frame: MessageFrame
}

/**
 * Groups alerts by channel and statistic. Alerts to whose statistic no message adds are omitted.
 */
function groupByStatistic(
  alerts: readonly ActiveAlert[],
  messagesByChannel: ReadonlyMap<string, readonly ContributingMessage[]>,
): StatisticAlerts[] {
  const groups: StatisticAlerts[] = []
  for (const [channelId, channelAlerts] of Map.groupBy(alerts, alert => alert.channel_id)) {
    const channelMessages = messagesByChannel.get(channelId) ?? []
    for (const [key, statisticAlerts] of Map.groupBy(channelAlerts, alert => alert.statisticKey)) {
      const messages = selectStatistic(channelMessages, key)
      if (messages.length === 0) continue
      // The channel and the statistic determine the window and the aggregation.
      const { windowSeconds, aggregation } = statisticAlerts[0]!
      groups.push({
        channel_id: channelId,
        key,
        aggregation,
        windowSeconds,
        alerts: statisticAlerts,
        messages,
      })
    }
  }
  return groups
}

/** Returns what messages add to a statistic. Messages that do not add to it are omitted. */
function selectStatistic(
  messages: readonly ContributingMessage[],
  key: string,
): StatisticMessage[] {
  const storedKeys = listStoredKeys(key)
  const selected: StatisticMessage[] = []
  for (const { timeMs, contribution, frame } of messages) {
    const value = storedKeys
      .map(storedKey => contribution[storedKey])
      .find(added => added !== undefined)
    if (value !== undefined) selected.push({ timeMs, value, frame })
  }
  return selected
}

function toMovingWindow(group: StatisticAlerts): MovingWindow {
  const { channel_id, key, windowSeconds, messages } = group
  const { from, to } = findPeriod(messages)
  return { channel_id, key, lengthMs: windowSeconds * 1000, firstMs: from, lastMs: to }
}

/** Evaluates the alerts on one statistic of a channel, message by message. */
function evaluateGroup(
  { aggregation, alerts, messages }: StatisticAlerts,
  window: SlidingWindow,
  armed: ArmedAlerts,
): FiredAlert[] {
  const fired: FiredAlert[] = []
  for (const { timeMs, value, frame } of messages) {
    window.add({ timeMs, sum: value, count: 1 })
    const { sum, count } = window.advanceTo(timeMs)
    const statistic = computeStatistic(aggregation, { sum, count, last: value })

    for (const alert of alerts) {
      if (!armed.isArmedAt(alert.alert_id, timeMs)) {
        alert.state = restartEvaluation(alert.state, timeMs)
        continue
      }
      const evaluation = evaluateActiveAlert(alert, { cause: 'message', timeMs, statistic })
      const { fires, previousReleasedAt } = evaluation
      if (fires && statistic !== undefined) {
        fired.push({ alert, timeMs, value: statistic, previousReleasedAt, frame })
      }
    }
  }
  return fired
}

/**
 * Returns the times of the earliest and the latest message, in epoch ms. At least one
 * message is required.
 */
function findPeriod(messages: readonly { timeMs: number }[]): { from: number; to: number } {
  const times = messages.map(({ timeMs }) => timeMs)
  return { from: Math.min(...times), to: Math.max(...times) }
}
