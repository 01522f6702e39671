import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { type MetricFamily, renderMetrics } from '@eyrie/kit/prometheus-metrics'
import { sql } from 'drizzle-orm'
import type { MiddlewareHandler } from 'hono'
import type { Database } from '../db/database.ts'

/** Metrics of management. They contain no names, so reading them requires no token. */
export interface Metrics {
  /** Middleware that counts and times requests. */
  count: MiddlewareHandler
  /** Returns all metrics in the Prometheus text format. */
  text(): Promise<string>
}

/** `database` throws while the database is unreachable. */
export function createMetrics(database: () => Database): Metrics {
  const requests = new Map<number, number>()
  let seconds = 0

  return {
    async count(c, next) {
      const startedAt = performance.now()
      await next()
      seconds += (performance.now() - startedAt) / 1000
      requests.set(c.res.status, (requests.get(c.res.status) ?? 0) + 1)
    },

    async text() {
      const engines = await countEngines(database).catch(() => undefined)
      const families: MetricFamily[] = [
        {
          name: 'eyrie_management_requests_total',
          type: 'counter',
          help: 'Answered API requests by status.',
          samples: [...requests].map(([status, count]) => [{ status }, count]),
        },
        {
          name: 'eyrie_management_request_seconds_total',
          type: 'counter',
          help: 'Total time spent answering API requests.',
          samples: [[{}, seconds]],
        },
        {
          name: 'eyrie_management_database_up',
          type: 'gauge',
          help: 'Whether the database is reachable.',
          samples: [[{}, engines ? 1 : 0]],
        },
        {
          name: 'eyrie_management_engines',
          type: 'gauge',
          help: 'Engines by their last reported status.',
          samples: engines ?? [],
        },
      ]
      return renderMetrics(families)
    },
  }
}

async function countEngines(database: () => Database): Promise<MetricFamily['samples']> {
  const rows = await database().system('metrics', tx =>
    tx.execute<{ status: number; count: number }>(sql`
      select coalesce(engine_status, 0)::int as status, count(*)::int as count
      from engine left join engine_state using (engine_id) group by 1`),
  )
  const counts = new Map(rows.map(({ status, count }) => [status, count]))
  return Object.entries(ENGINE_STATUS).map(([status, n]) => [{ status }, counts.get(n) ?? 0])
}
