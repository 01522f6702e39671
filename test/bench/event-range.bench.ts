import { sql } from 'drizzle-orm'
import type { Bench } from './bench.ts'
import { insertEventHistory } from './event-history.ts'
import { startPopulatedManagement } from './populated-management.ts'

/** 50 million events of three months. */
const history = { channels: 4, days: 90, eventsPerMinute: 97, daysWithEvents: 1 }
const events = history.channels * history.days * 1440 * history.eventsPerMinute
const roundsOfQueries = 20
const warmUpRounds = 2
const maxP95Ms = 100
const PERCENTILE = 0.95

/**
 * Requests to management on the embedded Postgres, one after another, each for a period that ends
 * now. They read the roll-ups of all events; the events themselves are stored for the newest day.
 */
export const bench: Bench = {
  name: `95th percentile of Events By Range and statistics over ${(events / 1e6).toFixed(0)} million events`,
  limit: { max: maxP95Ms },
  unit: ' ms',

  async run() {
    const management = await startPopulatedManagement({ organizations: 1, sites: 1, devices: 1 })
    try {
      const { database, api, token } = management
      const [channelId = ''] = await insertEventHistory(database, history)
      await database.maintain('vacuum analyze', AbortSignal.timeout(600_000))
      const queries = Object.entries(createQueries(channelId))
      const samples: number[] = []
      const medians: string[] = []
      for (const [name, path] of queries) {
        const times: number[] = []
        for (let round = 0; round < warmUpRounds + roundsOfQueries; round += 1) {
          const startedAt = performance.now()
          const answer = await fetch(`${api}${path}`, {
            headers: { authorization: `Bearer ${token}` },
          })
          const text = await answer.text()
          if (!answer.ok) throw new Error(`${path}: ${text}`)
          if (round >= warmUpRounds) times.push(performance.now() - startedAt)
        }
        samples.push(...times)
        medians.push(`${name} ${percentile(times, 0.5).toFixed(0)} ms`)
      }
      const [counted] = await database.system('bench', tx =>
        tx.execute<{ rolledUp: number }>(
          sql`select sum(count)::float8 as "rolledUp" from statistic_minute where key = 'total'`,
        ),
      )
      return {
        samples: [percentile(samples, PERCENTILE)],
        loads: [{ name: 'events in the roll-ups', min: events, actual: counted!.rolledUp }],
        detail: `medians: ${medians.join(', ')}`,
      }
    } finally {
      await management.stop()
    }
  },
}

const range = (channelId: string, start: string, aggFrequency: string) =>
  `/event/range?usecase=line-crossing&usecase_meta_key=up,down,total&channel_id=${channelId}&start=${start}&end=now&agg_frequency=${aggFrequency}`

const createQueries = (channelId: string) => ({
  'hours of a week': range(channelId, '-7d', '1h'),
  'days of a month': range(channelId, '-30d', '1d'),
  'days of three months': range(channelId, `-${history.days}d`, '1d'),
  'minutes of a day with events': `${range(channelId, '-1d', '1m')}&details=true`,
  'a channel of a month': `/event/channel-stats?usecase=line-crossing&usecase_meta_key=up,down,total&channel_id=${channelId}&frequency=-30d`,
  'all channels of a day':
    '/event/usecase-stats?usecase=line-crossing&usecase_meta_key=up,down,total&frequency=-1d',
  'all channels of three months': `/event/usecase-stats?usecase=line-crossing&usecase_meta_key=up,down,total&frequency=-${history.days}d`,
})

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
