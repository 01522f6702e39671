import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { type MetricFamily, renderMetrics } from '@eyrie/kit/prometheus-metrics'
import { sql } from 'drizzle-orm'
import type { MiddlewareHandler } from 'hono'
import type { Database } from '../db/database.ts'

/** What management counts of itself. It names nobody and nothing, so that it needs no token. */
export interface Metrics {
  /** Counts the requests that pass. */
  count: MiddlewareHandler
  /** In Prometheus' text format. */
  text(): Promise<string>
}

/** `database` throws while there is none. */
export function createMetrics(database: () => Database): Metrics {
  const requests = new Map<number, number>()
  let seconds = 0

  return {
    async count(c, next) {
      const began = performance.now()
      await next()
      seconds += (performance.now() - began) / 1000
      requests.set(c.res.status, (requests.get(c.res.status) ?? 0) + 1)
    },

    async text() {
      const engines = await enginesByStatus(database).catch(() => undefined)
      const families: MetricFamily[] = [
        {
          name: 'eyrie_management_requests_total',
          type: 'counter',
          help: 'Requests to the API that were answered, by status.',
          samples: [...requests].map(([status, count]) => [{ status }, count]),
        },
        {
          name: 'eyrie_management_request_seconds_total',
          type: 'counter',
          help: 'Time that these took together.',
          samples: [[{}, seconds]],
        },
        {
          name: 'eyrie_management_database_up',
          type: 'gauge',
          help: 'Whether the database answers.',
          samples: [[{}, engines ? 1 : 0]],
        },
        {
          name: 'eyrie_management_engines',
          type: 'gauge',
          help: 'Engines by what was last heard of them.',
          samples: engines ?? [],
        },
      ]
      return renderMetrics(families)
    },
  }
}

async function enginesByStatus(database: () => Database): Promise<MetricFamily['samples']> {
  const counted = await database().system('metrics', tx =>
    tx.execute<{ status: number; count: number }>(sql`
      select coalesce(engine_status, 0)::int as status, count(*)::int as count
      from engine left join engine_state using (engine_id) group by 1`),
  )
  const counts = new Map(counted.map(({ status, count }) => [status, count]))
  return Object.entries(ENGINE_STATUS).map(([status, n]) => [{ status }, counts.get(n) ?? 0])
}
