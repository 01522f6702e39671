import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { APPLICATION_NAME } from '../../services/management/db/application-database.ts'
import { createDatabase, type Database } from '../../services/management/db/database.ts'
import { insertRecords } from '../fixtures/management/records.ts'
import { ALLOW_LOCAL_WEBHOOKS } from '../fixtures/network/local-egress.ts'
import { findChildPid } from '../fixtures/processes/processes.ts'
import { type ServiceProcess, startService } from '../fixtures/processes/service-process.ts'
import { insertDeliveries } from '../fixtures/scheduler/insert-deliveries.ts'
import { SCHEDULER_TOKEN } from '../fixtures/scheduler/scheduler-api.ts'
import type { Bench } from './bench.ts'
import { processCpu, treeCpu } from './cpu.ts'

const deliveries = 100_000
const maxSeconds = 300
/** Of several receivers, none limits the rate. */
const receivers = 4
const maxWaitSeconds = 3 * maxSeconds

/**
 * Waiting webhooks in the embedded Postgres, sent by the real services to receivers in
 * processes of their own.
 */
export const bench: Bench = {
  name: `drains ${deliveries} waiting webhooks`,
  limit: { max: maxSeconds },
  unit: ' s',

  async run() {
    const data = mkdtempSync(join(tmpdir(), 'eyrie-bench-'))
    const stops: (() => Promise<unknown>)[] = [
      async () => rmSync(data, { recursive: true, force: true }),
    ]
    try {
      const management = await startManagement(data)
      stops.push(management.stop)
      const database = await connect(data, management)
      stops.push(() => database.close())
      const sinks = await Promise.all(Array.from({ length: receivers }, startSink))
      stops.push(async () => sinks.map(({ child }) => child.kill()))
      await fill(database, sinks)

      const schedulerData = join(data, 'scheduler')
      const startedAt = performance.now()
      const scheduler = await startScheduler(schedulerData, management.url)
      stops.push(scheduler.stop)
      const remaining = await drain(database)
      const seconds = (performance.now() - startedAt) / 1000
      const counts = await Promise.all(sinks.map(readCounts))
      const distinct = sum(counts.map(count => count.distinct))
      const postgres = treeCpu(findChildPid(management.pid, 'native/bin/postgres'))
      const cpu = [processCpu(scheduler.pid), processCpu(management.pid), postgres]
      const [ofScheduler, ofManagement, ofPostgres] = cpu.map(used => used.toFixed(0))
      return {
        samples: [seconds],
        loads: [
          { name: 'delivered', min: deliveries, actual: deliveries - remaining },
          { name: 'distinct ids at the receivers', min: deliveries, actual: distinct },
        ],
        detail: `${(deliveries / seconds).toFixed(0)}/s; ${sum(counts.map(({ calls }) => calls)) - distinct} sent twice; CPU of scheduler ${ofScheduler} s, management ${ofManagement} s, Postgres ${ofPostgres} s`,
      }
    } finally {
      for (const stop of stops.reverse()) await stop()
    }
  },
}

const startManagement = (data: string) =>
  startService('management', {
    EYRIE_DATA: data,
    EYRIE_MANAGEMENT_PORT: '0',
    EYRIE_SCHEDULER_TOKEN: SCHEDULER_TOKEN,
  })

const startScheduler = (data: string, url: string) =>
  startService('scheduler', {
    EYRIE_DATA: data,
    EYRIE_MANAGEMENT_URL: url,
    EYRIE_SCHEDULER_PORT: '0',
    EYRIE_SCHEDULER_TOKEN: SCHEDULER_TOKEN,
    EYRIE_EGRESS_ALLOW: ALLOW_LOCAL_WEBHOOKS,
  })

async function connect(data: string, { url }: ServiceProcess): Promise<Database> {
  for (;;) {
    const metrics = await (await fetch(`${url}/metrics`)).text()
    if (metrics.includes('eyrie_management_database_up 1')) break
    await wait(100)
  }
  const path = join(data, 'postgres/data/.s.PGSQL.5432')
  return createDatabase({ path, user: APPLICATION_NAME, database: APPLICATION_NAME })
}

interface Sink {
  child: ChildProcess
  url: string
}

async function startSink(): Promise<Sink> {
  const program = join(import.meta.dirname, 'webhook-sink.ts')
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(child.stdout!, 'data')
  return { child, url: `http://127.0.0.1:${String(port).trim()}/` }
}

const readCounts = async ({ url }: Sink) =>
  (await (await fetch(url)).json()) as { calls: number; distinct: number }

/** Stores one delivery for each receiver as an alert does, and copies them. */
async function fill(database: Database, sinks: Sink[]): Promise<void> {
  const records = await insertRecords(database)
  await database.system('bench', tx => tx.execute(sql`delete from delivery`))
  await insertDeliveries(
    database,
    records,
    sinks.map(({ url }) => ({ action_url: url })),
  )
  await database.system('bench', tx =>
    tx.execute(sql`
      insert into delivery (delivery_id, notification_uuid, alert_id, channel_id, type, target, recipient, request, next_attempt_at, expires_at)
      select gen_random_uuid(), notification_uuid, alert_id, channel_id, type, target, recipient, request, next_attempt_at, expires_at
      from delivery, generate_series(2, ${deliveries / sinks.length}::int)`),
  )
  await database.system('bench', tx => tx.execute(sql`analyze delivery`))
}

/**
 * Resolves with the number of deliveries that are not delivered, as soon as that is 0
 * or the time is over.
 */
async function drain(database: Database): Promise<number> {
  const deadline = performance.now() + maxWaitSeconds * 1000
  for (;;) {
    const [row] = await database.system('bench', tx =>
      tx.execute<{ count: number }>(
        sql`select count(*)::int as count from delivery where next_attempt_at is not null`,
      ),
    )
    if (row!.count === 0 || performance.now() > deadline) return row!.count
    await wait(1000)
  }
}

const sum = (values: number[]) => values.reduce((a, b) => a + b, 0)
