import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { and, eq, exists, inArray, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../db/database.ts'
import { alert, channel, engineState } from '../db/schema/index.ts'
import { movedAverage, occupancyAverage } from '../events/statistics/contribution.ts'
import { latest } from '../events/statistics/latest-values.ts'
import { samples } from '../events/statistics/samples.ts'
import { statisticOf, storedKeys } from './alert-statistic.ts'
import { evaluate } from './evaluate.ts'
import { type Fired, storeNotifications } from './store-notifications.ts'
import { keepStandings, standingAt, type Watched, watchAlerts } from './watched-alerts.ts'

/** What engines tell comes a little later than it happens. */
const lagMs = 2000

/**
 * Looks at all alerts as time passes, so that those fire for which nothing has to happen. Where an engine is not online,
 * that nothing is heard means nothing: its alerts wait.
 */
export async function evaluateByTime(database: Database, now: number): Promise<void> {
  const at = now - lagMs
  const moving = await database.system('alerts', async tx => {
    const alerts = await watchAlerts(tx, isHeard(tx), { locked: false })
    return (await look(tx, alerts, at)).changed.map(({ alert_id }) => alert_id)
  })
  if (moving.length === 0) return
  // Once more, since messages may have come meanwhile.
  await database.system('alerts', async tx => {
    const alerts = await watchAlerts(tx, inArray(alert.alert_id, moving), { locked: true })
    const { fired, changed } = await look(tx, alerts, at)
    await storeNotifications(tx, fired)
    await keepStandings(tx, changed)
  })
}

/** Which of these alerts fire at a moment, and which stand otherwise than before. */
async function look(tx: Transaction, alerts: readonly Watched[], at: number) {
  const fired: Fired[] = []
  const changed: Watched[] = []
  // What a message has told already of a later moment is not taken back.
  const due = alerts.filter(({ standing: { lookedAt = at } }) => lookedAt <= at)
  for (const [seconds, sharing] of Map.groupBy(due, each => each.seconds)) {
    const statistic = await statisticsAt(tx, sharing, seconds, at)
    for (const alert of sharing) {
      const value = statistic(alert)
      const found = evaluate(alert, alert.standing, { cause: 'time', at, statistic: value })
      if (found.fires) fired.push({ alert, at, value: value!, frame: undefined })
      if (!found.fires && found.holds === alert.standing.holds) continue
      alert.standing = standingAt(alert.standing, at, found)
      changed.push(alert)
    }
  }
  return { fired, changed }
}

const isHeard = (tx: Transaction) =>
  exists(
    tx
      .select({ one: sql`1` })
      .from(channel)
      .innerJoin(engineState, eq(engineState.engine_id, channel.engine_id))
      .where(
        and(eq(channel.channel_id, alert.channel_id), eq(engineState.engine_status, ENGINE_STATUS.online)),
      ),
  )

type Amount = { channel_id: string; key: string; sum: number; count: number }

/** The statistics of alerts over the seconds before a moment. */
async function statisticsAt(tx: Transaction, alerts: readonly Watched[], seconds: number, at: number) {
  const channels = [...new Set(alerts.map(({ channel_id }) => channel_id))]
  const keys = [...new Set(alerts.flatMap(({ key }) => storedKeys(key)))]
  const period = { from: at - seconds * 1000 + 1, to: at + 1 }
  const amounts = await tx.execute<Amount>(
    sql`select channel_id, key, sum(sum)::float8 as sum, sum(count)::float8 as count
      from (${samples(channels, keys, period, true)}) s group by channel_id, key`,
  )
  const newest = await latest(tx, channels, [...keys, 'occupancy'], period.to)

  return ({ channel_id, key, aggregation }: Watched): number | undefined => {
    const amount = amounts.find(each => each.channel_id === channel_id && each.key === key)
    const value = (name: string) => newest.find(each => each.channel_id === channel_id && each.key === name)
    const [own, average, occupancy] = [value(key), value(occupancyAverage), value('occupancy')]
    const moved =
      key === 'moving_average_count' && average && occupancy
        ? movedAverage(average.value, occupancy.value, at - average.at, seconds)
        : undefined
    const { sum, count } = amount ?? { sum: 0, count: 0 }
    return statisticOf(aggregation, { sum, count, last: own?.value ?? moved })
  }
}
