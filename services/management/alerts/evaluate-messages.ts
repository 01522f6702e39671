import { inArray, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { alert } from '../db/schema/index.ts'
import type { ContributingMessage, MessageSubscriber } from '../events/ingest/ingest-port.ts'
import { samples } from '../events/statistics/samples.ts'
import { statisticOf, storedKeys } from './alert-statistic.ts'
import { evaluate } from './evaluate.ts'
import { type Amount, Window } from './sliding-window.ts'
import { type Fired, storeNotifications } from './store-notifications.ts'
import { keepStandings, standingAt, type Watched, watchAlerts } from './watched-alerts.ts'

/** Evaluates the alerts of a channel whenever messages add to its statistics, and stores the notifications. */
export const alertSubscriber: MessageSubscriber = {
  async beforeStore(tx, messages) {
    const fired = await evaluateMessages(tx, messages)
    return () => storeNotifications(tx, fired)
  },
}

/**
 * The alerts that new messages fire. Each is looked at with every message that bears on it, as it stood then: what fires
 * does not depend on how messages come together. Call it before the messages are stored.
 */
async function evaluateMessages(tx: Transaction, messages: readonly ContributingMessage[]): Promise<Fired[]> {
  const byChannel = Map.groupBy(messages, ({ channel_id }) => channel_id)
  if (byChannel.size === 0) return []
  const watched = await watchAlerts(tx, inArray(alert.channel_id, [...byChannel.keys()]), { locked: true })
  const before = new Map(watched.map(({ alert_id, standing }) => [alert_id, standing]))
  const fired: Fired[] = []
  for (const [channel_id, own] of byChannel) {
    const alerts = watched.filter(each => each.channel_id === channel_id)
    for (const [key, sharing] of Map.groupBy(alerts, each => each.key)) {
      const bearing = own.filter(({ added }) => storedKeys(key).some(stored => stored in added))
      if (bearing.length > 0) fired.push(...(await look(tx, key, sharing, bearing)))
    }
  }
  await keepStandings(
    tx,
    watched.filter(({ alert_id, standing }) => standing !== before.get(alert_id)),
  )
  return fired
}

/** Looks at the alerts of one channel that share a key, message by message. */
async function look(
  tx: Transaction,
  key: Watched['key'],
  alerts: Watched[],
  bearing: readonly ContributingMessage[],
): Promise<Fired[]> {
  const window = await openWindow(tx, key, alerts[0]!, bearing)
  const fired: Fired[] = []
  for (const { at, added, frame } of bearing) {
    const last = storedKeys(key)
      .map(stored => added[stored])
      .find(value => value !== undefined)!
    window.add({ at, sum: last, count: 1 })
    const statistic = statisticOf(alerts[0]!.aggregation, { ...window.upTo(at), last })
    for (const alert of alerts) {
      const found = evaluate(alert, alert.standing, { cause: 'message', at, statistic })
      if (found.fires) fired.push({ alert, at, value: statistic!, frame })
      if (found.fires || found.holds !== alert.standing.holds)
        alert.standing = standingAt(alert.standing, at, found)
    }
  }
  return fired
}

/** The window as it is before these messages. */
async function openWindow(
  tx: Transaction,
  key: string,
  { channel_id, seconds }: Watched,
  bearing: readonly ContributingMessage[],
): Promise<Window> {
  const lengthMs = seconds * 1000
  const times = bearing.map(({ at }) => at)
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const from = first - lengthMs + 1
  const stored = samples([channel_id], [key], { from, to: last + 1 }, true)
  const [before] = await tx.execute<{ sum: number; count: number }>(
    sql`select coalesce(sum(sum), 0)::float8 as sum, coalesce(sum(count), 0)::float8 as count from (${stored}) s`,
  )
  const leaving = samples([channel_id], [key], { from, to: last - lengthMs + 1 }, false)
  const amounts = await tx.execute<Amount & Record<string, unknown>>(
    sql`select extract(epoch from time)::float8 * 1000 as at, sum, count::float8 from (${leaving}) s order by time, seq`,
  )
  return new Window(lengthMs, before!, amounts)
}
