import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { eq, sql } from 'drizzle-orm'
import { createDatabase, type Database } from '../../services/management/db/database.ts'
import { migrateDatabase } from '../../services/management/db/migrate.ts'
import { channel, event } from '../../services/management/db/schema/index.ts'
import { readDurableMessages } from '../fixtures/engine/engine-client.ts'
import { writePlugin } from '../fixtures/engine/test-plugin.ts'
import { insertChannel, insertEngine } from '../fixtures/management/engine-messages.ts'
import { type EngineProcess, startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { startMediaProcess } from '../fixtures/processes/media-process.ts'
import { startPostgres } from '../fixtures/processes/postgres.ts'
import { type ServiceProcess, startService } from '../fixtures/processes/service-process.ts'
import type { Bench } from './bench.ts'

const maxSeconds = 10
const rounds = 5
const pollMs = 20
/** After this, a round has failed. */
const maxWaitMs = 120_000

/** Sends an event with every frame. */
const eventful = `
  let n = 0
  return {
    process() {
      n += 1
      return { events: [{ type: 'line-crossing', name: 'door', direction: 'up', track: n }] }
    },
  }`

/**
 * Two management services on one Postgres, and an engine that sends an event with every frame. The
 * service that follows the engine is killed again and again, and started again.
 */
export const bench: Bench = {
  name: 'from the end of a management service (SIGKILL) to the first event that another one stores',
  limit: { max: maxSeconds },
  unit: ' s',

  async run() {
    const stops: (() => unknown)[] = []
    try {
      const {
        engine,
        database,
        channel_id: channelId,
        startManagement,
      } = await startServices(stops)
      const services = [await startManagement(), await startManagement()]
      const seconds: number[] = []
      for (let round = 0; round < rounds; round += 1) {
        const before = await readNewest(database, channelId)
        await until(async () => (await readNewest(database, channelId)) > before + 20)
        const connections = services.map(readLastConnection)
        const holder = connections.indexOf(Math.max(...connections))
        const killedAt = performance.now()
        await services[holder]!.kill()
        const last = await readNewest(database, channelId)
        await until(async () => (await readNewest(database, channelId)) > last)
        seconds.push((performance.now() - killedAt) / 1000)
        services[holder] = await startManagement()
      }
      const { stored, sent } = await countEvents(database, channelId, engine)
      return {
        samples: seconds,
        loads: [{ name: 'share of the events that are stored', min: 1, actual: stored / sent }],
        detail: `rounds ${seconds.map(value => value.toFixed(1)).join(' ')} s; ${stored} of ${sent} events are stored once`,
      }
    } finally {
      for (const stop of stops.reverse()) await stop()
    }
  },
}

async function startServices(stops: (() => unknown)[]) {
  const folder = mkdtempSync(join(tmpdir(), 'eyrie-bench-failover-'))
  stops.push(() => rmSync(folder, { recursive: true, force: true }))
  const postgres = await startPostgres()
  stops.push(() => postgres.remove())
  const media = await startMediaProcess()
  stops.push(() => media.stop())
  const plugins = join(folder, 'plugins')
  writePlugin(plugins, { name: 'eventful', open: eventful })
  const engine = await startEngineProcess({ data: join(folder, 'engine'), media, plugins })
  stops.push(() => engine.kill())
  const url = `postgres://eyrie:plugh@127.0.0.1:${postgres.port}/eyrie`
  await migrateDatabase(url)
  const database = await createDatabase(url)
  stops.push(() => database.close())

  async function startManagement(): Promise<ServiceProcess> {
    const service = await startService('management', {
      EYRIE_DATA: join(folder, 'management'),
      EYRIE_MANAGEMENT_PORT: '0',
      // It registers no engine of its own.
      EYRIE_JOIN_TOKEN: randomUUID(),
      EYRIE_EGRESS_ALLOW: `engine=127.0.0.1:${engine.port}`,
      EYRIE_ADMIN_PASSWORD: randomUUID(),
      DATABASE_URL: url,
    })
    stops.push(() => service.kill())
    return service
  }

  const inserted = await insertEngine(database, {
    engine_port: engine.port,
    source_address: 'test://ball',
  })
  const channelId = await insertChannel(database, inserted, 'line-crossing', {}, [
    { name: 'eventful' },
  ])
  return { engine, database, channel_id: channelId, startManagement }
}

/**
 * When a service has last connected to the engine. Only one engine exists, so that no other service
 * takes it over meanwhile.
 */
const readLastConnection = ({ lines }: ServiceProcess): number =>
  Math.max(
    0,
    ...lines.flatMap(line => {
      const { msg, time } = JSON.parse(line)
      return msg === 'engine connected' ? Date.parse(time) || Number(time) : []
    }),
  )

async function readNewest(database: Database, channelId: string): Promise<number> {
  const [row] = await database.system('bench', tx =>
    tx
      .select({ seq: sql<number>`coalesce(max(${event.seq}), 0)::float8` })
      .from(event)
      .where(eq(event.channel_id, channelId)),
  )
  return row!.seq
}

/**
 * Counts the messages of the channel that the engine has sent up to the newest stored one, and
 * those of them that are stored.
 */
async function countEvents(database: Database, channelId: string, engine: EngineProcess) {
  const rows = await database.system('bench', tx =>
    tx
      .select({ seq: event.seq, sid: channel.channel_sid })
      .from(event)
      .innerJoin(channel, eq(channel.channel_id, event.channel_id))
      .where(eq(event.channel_id, channelId)),
  )
  const stored = new Set(rows.map(({ seq }) => seq))
  const newest = Math.max(...stored)
  const sent = (await readDurableMessages(engine.api)).filter(
    ({ channel, kind, seq }) => channel === rows[0]?.sid && kind !== 'picture' && seq <= newest,
  )
  // A message that is stored twice makes the share smaller than 1, too.
  const once = sent.filter(({ seq }) => stored.has(seq)).length - (rows.length - stored.size)
  return { stored: once, sent: sent.length }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + maxWaitMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('a service has not taken over in time')
    await wait(pollMs)
  }
}
