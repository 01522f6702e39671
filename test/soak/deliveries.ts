import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { eq, sql } from 'drizzle-orm'
import { v7 } from 'uuid'
import { Random } from '../../scene/maths/random.ts'
import { APPLICATION_NAME } from '../../services/management/db/application-database.ts'
import { createDatabase, type Database } from '../../services/management/db/database.ts'
import {
  alert,
  alertPolicy,
  channel,
  delivery,
  event,
  notification,
} from '../../services/management/db/schema/index.ts'
import { writePlugin } from '../fixtures/engine/test-plugin.ts'
import { insertChannel, insertEngine } from '../fixtures/management/engine-messages.ts'
import { findFreePort } from '../fixtures/network/free-ports.ts'
import { ALLOW_LOCAL_ENGINES, ALLOW_LOCAL_WEBHOOKS } from '../fixtures/network/local-egress.ts'
import { type EngineProcess, startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { startMediaProcess } from '../fixtures/processes/media-process.ts'
import { findChildPid } from '../fixtures/processes/processes.ts'
import { type ServiceProcess, startService } from '../fixtures/processes/service-process.ts'
import { SCHEDULER_TOKEN } from '../fixtures/scheduler/scheduler-api.ts'

const VICTIMS = ['media', 'engine', 'management', 'scheduler', 'postgres'] as const
const MAX_PAUSE_MS = 8_000
/** Time for everything to arrive after the last kill. */
const MAX_DRAIN_MS = 300_000

/** Sends an event and a count with every frame. */
const EVENTFUL = `
  let n = 0
  return {
    process() {
      n += 1
      return {
        events: [{ type: 'line-crossing', name: 'door', direction: 'up', track: n }],
        counters: { hall: { occupancy: n % 5 } },
      }
    },
  }`

/**
 * Kills all services and Postgres at random moments while events become notifications and webhooks.
 * Resolves with whether every event is stored once, every notification was delivered, and the
 * receiver knows each delivery by one id.
 */
export async function soakDeliveries(minutes: number, seed: number): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'eyrie-soak-'))
  const random = new Random(seed)
  const stops: (() => Promise<unknown>)[] = [
    async () => rmSync(folder, { recursive: true, force: true }),
  ]
  console.log(`killing services for ${minutes} minutes with seed ${seed}`)
  try {
    const sink = await startSink()
    stops.push(async () => sink.child.kill())
    const appliance = await startServices(folder)
    stops.push(appliance.stop)
    const { channel_id: channelId } = await createAlert(
      appliance.database,
      appliance.enginePort,
      sink.url,
    )

    const end = Date.now() + minutes * 60_000
    const kills: Record<string, number> = {}
    while (Date.now() < end) {
      await wait(random.between(200, MAX_PAUSE_MS))
      const victim = VICTIMS[Math.floor(random.between(0, VICTIMS.length))] ?? 'management'
      await appliance.kill(victim)
      kills[victim] = (kills[victim] ?? 0) + 1
    }
    console.log(`kills: ${JSON.stringify(kills)}`)
    const problems = await verify(appliance, channelId, sink)
    for (const problem of problems) console.log(`FAIL deliveries: ${problem}`)
    return problems.length === 0
  } catch (error) {
    console.log(`FAIL deliveries: ${(error as Error).stack}`)
    return false
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

interface Services {
  database: Database
  enginePort: number
  engine(): EngineProcess
  /** Kills a process and starts it again. Management starts Postgres again. */
  kill(name: (typeof VICTIMS)[number]): Promise<void>
  stop(): Promise<void>
}

async function startServices(folder: string): Promise<Services> {
  const [mediaPort, enginePort, managementPort] = await Promise.all([
    findFreePort(),
    findFreePort(),
    findFreePort(),
  ])
  const data = join(folder, 'management')
  const plugins = join(folder, 'plugins')
  writePlugin(plugins, { name: 'eventful', open: EVENTFUL })
  const startMedia = () => startMediaProcess({ EYRIE_MEDIA_PORT: String(mediaPort) })
  let media = await startMedia()
  const startEngine = () =>
    startEngineProcess({
      ...{ media, plugins, data: join(folder, 'engine') },
      variables: { EYRIE_ENGINE_PORT: String(enginePort) },
    })
  const startManagement = () =>
    startService('management', {
      EYRIE_DATA: data,
      EYRIE_MANAGEMENT_PORT: String(managementPort),
      EYRIE_SCHEDULER_TOKEN: SCHEDULER_TOKEN,
      EYRIE_EGRESS_ALLOW: ALLOW_LOCAL_ENGINES,
    })
  const startScheduler = () =>
    startService('scheduler', {
      EYRIE_DATA: join(folder, 'scheduler'),
      EYRIE_MANAGEMENT_URL: `http://127.0.0.1:${managementPort}`,
      EYRIE_SCHEDULER_PORT: '0',
      EYRIE_SCHEDULER_TOKEN: SCHEDULER_TOKEN,
      EYRIE_EGRESS_ALLOW: ALLOW_LOCAL_WEBHOOKS,
    })

  let engine = await startEngine()
  let management = await startManagement()
  let scheduler = await startScheduler()
  await waitForDatabase(management)
  const path = join(data, 'postgres/data/.s.PGSQL.5432')
  const database = await createDatabase({
    path,
    user: APPLICATION_NAME,
    database: APPLICATION_NAME,
  })

  return {
    database,
    enginePort,
    engine: () => engine,
    async kill(name) {
      if (name === 'postgres') {
        process.kill(findChildPid(management.pid, 'native/bin/postgres'), 'SIGKILL')
      }
      if (name === 'engine') {
        await engine.kill()
        engine = await startEngine()
      }
      if (name === 'media') {
        await media.kill()
        // The engine reads the folder of the frames, which is another one now.
        await engine.kill()
        media = await startMedia()
        engine = await startEngine()
      }
      if (name === 'management') {
        await management.kill()
        management = await startManagement()
      }
      if (name === 'scheduler') {
        await scheduler.kill()
        scheduler = await startScheduler()
      }
      if (name === 'management' || name === 'postgres') await waitForDatabase(management)
    },
    async stop() {
      await database.close()
      for (const service of [scheduler, management, engine, media]) await service.stop()
    },
  }
}

async function waitForDatabase({ url }: ServiceProcess): Promise<void> {
  for (;;) {
    const metrics = await (await fetch(`${url}/metrics`)).text()
    if (metrics.includes('eyrie_management_database_up 1')) return
    await wait(100)
  }
}

/** Creates a channel with an alert that fires with every event, and sends a message each time. */
async function createAlert(database: Database, enginePort: number, actionUrl: string) {
  const inserted = await insertEngine(database, {
    engine_port: enginePort,
    source_address: 'test://ball',
  })
  const elements = [{ name: 'eventful' }]
  const channelId = await insertChannel(database, inserted, 'line-crossing', {}, elements)
  const alertId = v7()
  await database.system('soak', async tx => {
    await tx.insert(alert).values({
      ...{ alert_id: alertId, channel_id: channelId, alert_name: 'Each', alert_priority: 'low' },
      alert_actions: [{ action_type: 'webhook', action_url: actionUrl, action_picture: 'none' }],
      ...{ alert_threshold: '1', alert_threshold_condition: 'gte', alert_threshold_key: 'up' },
      alert_frequency: 0,
    })
    await tx.insert(alertPolicy).values({
      alert_id: alertId,
      channel_id: channelId,
      quiet_s: 300,
      repeat_s: 0,
      budget_per_hour: 0,
      escalation: [],
    })
  })
  return { channel_id: channelId }
}

interface Sink {
  child: ChildProcess
  url: string
}

async function startSink(): Promise<Sink> {
  const program = join(import.meta.dirname, '../bench/webhook-sink.ts')
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(child.stdout!, 'data')
  return { child, url: `http://127.0.0.1:${String(port).trim()}/` }
}

/** Returns what was lost or repeated. */
async function verify(
  { database, engine }: Services,
  channelId: string,
  { url }: Sink,
): Promise<string[]> {
  const [row] = await database.system('soak', tx =>
    tx.select().from(channel).where(eq(channel.channel_id, channelId)),
  )
  const sent: number[] = []
  let newest = 0
  for await (const message of engine().api.output({
    since: 1,
    kinds: ['event', 'count', 'state'],
  })) {
    if (message.kind === 'hello') newest = message.newest
    else if (message.kind !== 'gap' && message.channel === row!.channel_sid) sent.push(message.seq)
    if (message.kind !== 'hello' && message.kind !== 'gap' && message.seq >= newest) break
  }
  const stored = await waitFor(
    () =>
      database.system('soak', tx =>
        tx
          .select({ seq: event.seq, data: event.statistics })
          .from(event)
          .where(eq(event.channel_id, channelId)),
      ),
    rows => rows.some(({ seq }) => seq >= sent.at(-1)!),
  )
  // The engine goes on while the deliveries are awaited.
  await engine().stop()
  const waiting = await waitFor(
    () => countWhere(database, sql`${delivery.next_attempt_at} is not null`),
    count => count === 0,
  )

  const known = new Set(stored.map(({ seq }) => seq))
  const missing = sent.filter(seq => !known.has(seq)).length
  const undelivered = await countWhere(database, sql`${delivery.state} <> 'delivered'`)
  const total = await countWhere(database, sql`true`)
  const [counted] = await database.system('soak', tx =>
    tx
      .select({
        notifications: sql<number>`count(*)::int`,
        events: sql<number>`(select count(*)::int from event e where e.channel_id = ${channelId} and e.statistics ? 'up')`,
      })
      .from(notification),
  )
  const { notifications, events } = counted!
  const received = (await (await fetch(url)).json()) as { calls: number; distinct: number }
  console.log(
    `events ${events}, notifications ${notifications}, deliveries ${total}, received ${received.distinct} and ${received.calls - received.distinct} again with the same id`,
  )
  return [
    events === 0 && 'there were no events',
    missing > 0 && `${missing} of ${sent.length} messages of the engine are not stored`,
    known.size !== stored.length && 'messages are stored twice',
    notifications !== events && `${events} events have ${notifications} notifications`,
    total !== notifications && `${notifications} notifications have ${total} deliveries`,
    waiting > 0 && `${waiting} deliveries still wait`,
    undelivered > 0 && `${undelivered} deliveries were not delivered`,
    received.distinct !== total &&
      `the receiver knows ${received.distinct} ids of ${total} deliveries`,
  ].filter(problem => problem !== false)
}

async function countWhere(database: Database, condition: ReturnType<typeof sql>): Promise<number> {
  const [row] = await database.system('soak', tx =>
    tx.select({ count: sql<number>`count(*)::int` }).from(delivery).where(condition),
  )
  return row!.count
}

/** Resolves with the first value that is complete, or with the last one when the time is over. */
async function waitFor<Value>(
  read: () => Promise<Value>,
  isComplete: (value: Value) => boolean,
): Promise<Value> {
  const deadline = Date.now() + MAX_DRAIN_MS
  for (;;) {
    const value = await read()
    if (isComplete(value) || Date.now() > deadline) return value
    await wait(1000)
  }
}
