import { inArray, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { alert } from '../db/schema/index.ts'
import type { ContributingMessage, MessageSubscriber } from '../events/ingest/ingest-port.ts'
import { selectSamples } from '../events/statistics/samples.ts'
import { type ActiveAlert, advanceStanding, loadActiveAlerts, storeStandings } from './active-alerts.ts'
import { computeStatistic, evaluateAlert, toStoredKeys } from './evaluate-alert.ts'
import { SlidingWindow, type TimedAmount } from './sliding-window.ts'
import { type FiredAlert, storeNotifications } from './store-notifications.ts'

/** Evaluates the alerts of a channel whenever messages add to its statistics, and stores the notifications. */
export const alertSubscriber: MessageSubscriber = {
  async beforeStore(tx, messages) {
    const fired = await evaluateMessages(tx, messages)
    return () => storeNotifications(tx, fired)
  },
}

/**
 * Returns the alerts that new messages fire. Each alert is evaluated for every message separately, with the statistic at
 * that message, so the result does not depend on how messages are batched. Called before the messages are stored.
 */
async function evaluateMessages(
  tx: Transaction,
  messages: readonly ContributingMessage[],
): Promise<FiredAlert[]> {
  const messagesByChannel = Map.groupBy(messages, ({ channel_id }) => channel_id)
  if (messagesByChannel.size === 0) return []
  const condition = inArray(alert.channel_id, [...messagesByChannel.keys()])
  const alerts = await loadActiveAlerts(tx, condition, { locked: true })
  const initialStandings = new Map(alerts.map(({ alert_id, standing }) => [alert_id, standing]))
  const fired: FiredAlert[] = []
  for (const [channel_id, channelMessages] of messagesByChannel) {
    const channelAlerts = alerts.filter(each => each.channel_id === channel_id)
    for (const [key, group] of Map.groupBy(channelAlerts, each => each.key)) {
      const storedKeys = toStoredKeys(key)
      const relevant = channelMessages.filter(({ contribution }) =>
        storedKeys.some(name => name in contribution),
      )
      if (relevant.length > 0) fired.push(...(await evaluateGroup(tx, key, group, relevant)))
    }
  }
  const changed = alerts.filter(({ alert_id, standing }) => standing !== initialStandings.get(alert_id))
  await storeStandings(tx, changed)
  return fired
}

/** Evaluates the alerts of one channel and key, message by message. */
async function evaluateGroup(
  tx: Transaction,
  key: string,
  alerts: ActiveAlert[],
  messages: readonly ContributingMessage[],
): Promise<FiredAlert[]> {
  const { aggregation } = alerts[0]!
  const storedKeys = toStoredKeys(key)
  const window = await loadWindow(tx, key, alerts[0]!, messages)
  const fired: FiredAlert[] = []
  for (const { timeMs, contribution, frame } of messages) {
    const storedKey = storedKeys.find(name => contribution[name] !== undefined)!
    const last = contribution[storedKey]!
    window.add({ timeMs, sum: last, count: 1 })
    const statistic = computeStatistic(aggregation, { ...window.totalAt(timeMs), last })
    for (const alert of alerts) {
      const evaluation = evaluateAlert(alert, alert.standing, { cause: 'message', timeMs, statistic })
      if (evaluation.fires) fired.push({ alert, timeMs, value: statistic!, frame })
      if (evaluation.fires || evaluation.holds !== alert.standing.holds)
        alert.standing = advanceStanding(alert.standing, timeMs, evaluation)
    }
  }
  return fired
}

/** Loads the window as of the first message. */
async function loadWindow(
  tx: Transaction,
  key: string,
  { channel_id, seconds }: ActiveAlert,
  messages: readonly ContributingMessage[],
): Promise<SlidingWindow> {
  const lengthMs = seconds * 1000
  const times = messages.map(({ timeMs }) => timeMs)
  const first = Math.min(...times)
  const last = Math.max(...times)
  const from = first - lengthMs + 1
  const stored = selectSamples([channel_id], [key], { from, to: last + 1 }, true)
  const [initial] = await tx.execute<{ sum: number; count: number }>(
    sql`select coalesce(sum(sum), 0)::float8 as sum, coalesce(sum(count), 0)::float8 as count from (${stored}) s`,
  )
  const leaving = selectSamples([channel_id], [key], { from, to: last - lengthMs + 1 }, false)
  const amounts = await tx.execute<TimedAmount & Record<string, unknown>>(
    sql`select extract(epoch from time)::float8 * 1000 as "timeMs", sum, count::float8
      from (${leaving}) s order by time, seq`,
  )
  return new SlidingWindow(lengthMs, initial!, amounts)
}
