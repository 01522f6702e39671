import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { addGauge, type Sample } from '@eyrie/kit/prometheus-metrics'
import { sql } from 'drizzle-orm'
import type { MiddlewareHandler } from 'hono'
import { Counter, Registry } from 'prom-client'
import type { Database } from '../db/database.ts'

/**
 * Metrics of the management service for Prometheus. They contain no names of sites, cameras or
 * people, so reading them requires no token.
 */
export interface Metrics {
  /** Middleware that counts and times requests. */
  count: MiddlewareHandler
  registry: Registry
}

/** `database` throws while the database is unreachable. */
export function createMetrics(database: () => Database): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const requests = new Counter({
    name: 'eyrie_management_requests_total',
    help: 'Answered API requests by status.',
    labelNames: ['status'],
    registers,
  })
  const requestSeconds = new Counter({
    name: 'eyrie_management_request_seconds_total',
    help: 'Total time spent answering API requests.',
    registers,
  })

  // An unreachable database makes the scrape incomplete, but must not make it fail. The result is
  // then undefined.
  const readEngineCounts = shareConcurrentCalls(() => countEngines(database).catch(() => undefined))
  addGauge(registry, {
    name: 'eyrie_management_database_up',
    help: 'Whether the database is reachable.',
    read: async () => ((await readEngineCounts()) === undefined ? 0 : 1),
  })
  addGauge(registry, {
    name: 'eyrie_management_engines',
    help: 'Engines by their last reported status.',
    labelNames: ['status'],
    read: async () => (await readEngineCounts()) ?? [],
  })

  addGauge(registry, {
    name: 'eyrie_management_deliveries_waiting',
    help: 'Messages that are not sent yet and will be tried again.',
    read: async () => (await countWaitingDeliveries(database).catch(() => undefined)) ?? [],
  })

  return {
    registry,
    async count(c, next) {
      const startedAt = performance.now()
      await next()
      requestSeconds.inc((performance.now() - startedAt) / 1000)
      requests.inc({ status: c.res.status })
    },
  }
}

/**
 * Returns a function that shares a call in progress instead of starting another one, because two
 * gauges of a scrape need the same query.
 */
function shareConcurrentCalls<T>(call: () => Promise<T>): () => Promise<T> {
  let inProgress: Promise<T> | undefined
  return () => {
    inProgress ??= call().finally(() => {
      inProgress = undefined
    })
    return inProgress
  }
}

/** Returns the number of engines by status. */
async function countEngines(database: () => Database): Promise<Sample[]> {
  const rows = await database().system('metrics', tx =>
    tx.execute<{ status: number; count: number }>(sql`
      select
        coalesce(engine_status, ${ENGINE_STATUS.unknown})::int as status,
        count(*)::int as count
      from engine
      left join engine_state using (engine_id)
      group by 1`),
  )
  const counts = new Map(rows.map(({ status, count }) => [status, count]))
  return Object.entries(ENGINE_STATUS).map(([name, status]) => [
    { status: name },
    counts.get(status) ?? 0,
  ])
}

async function countWaitingDeliveries(database: () => Database): Promise<number> {
  const [row] = await database().system('metrics', tx =>
    tx.execute<{ count: number }>(sql`
      select count(*)::int as count
      from delivery
      where next_attempt_at is not null`),
  )
  return row?.count ?? 0
}
