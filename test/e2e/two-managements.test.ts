// @module-tag long

import { randomUUID } from 'node:crypto'
import { managementHealth } from '@eyrie/contract'
import { eq } from 'drizzle-orm'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createDatabase } from '../../services/management/db/database.ts'
import { channel, event } from '../../services/management/db/schema/index.ts'
import { readDurableMessages } from '../fixtures/engine/engine-client.ts'
import { writePlugin } from '../fixtures/engine/test-plugin.ts'
import { insertChannel, insertEngine } from '../fixtures/management/engine-messages.ts'
import { serveMedia } from '../fixtures/media/served-media.ts'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import { startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { startPostgres } from '../fixtures/processes/postgres.ts'
import { type ServiceProcess, startService } from '../fixtures/processes/service-process.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

const WAIT = { timeout: 180_000, interval: 500 }

/** Sends an event with every frame. */
const eventful = `
  let n = 0
  return {
    process() {
      n += 1
      return { events: [{ type: 'line-crossing', name: 'door', direction: 'up', track: n }] }
    },
  }`

const administrator = { email: 'admin@eyrie.test', password: `pass ${randomUUID()}` }

/** When a management service has connected to the engine for the last time. */
const readLastConnection = ({ lines }: ServiceProcess): number =>
  Math.max(
    0,
    ...lines.flatMap(line => {
      const { msg, engine, time } = JSON.parse(line)
      return msg === 'engine connected' && engine === 'Engine'
        ? Date.parse(time) || Number(time)
        : []
    }),
  )

async function call(service: ServiceProcess, path: string, token: string, body?: unknown) {
  const response = await fetch(`${service.url}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return {
    status: response.status,
    response: ((await response.json()) as { response: never }).response,
  }
}

async function signIn(service: ServiceProcess): Promise<string> {
  const { response } = await call(service, '/user/auth', '', administrator)
  return (response as { access_token: string }).access_token
}

/**
 * Two management services on one database, an engine with one channel, and what the
 * test does with them.
 */
async function startServices() {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.remove())
  const media = await serveMedia()
  const plugins = createTemporaryFolder()
  writePlugin(plugins, { name: 'eventful', open: eventful })
  const engine = await startEngineProcess({ data: createTemporaryFolder(), media, plugins })
  onTestFinished(() => engine.kill())
  const data = createTemporaryFolder()
  const url = `postgres://eyrie:plugh@127.0.0.1:${postgres.port}/eyrie`

  async function startManagement() {
    const service = await startService('management', {
      EYRIE_DATA: data,
      EYRIE_MANAGEMENT_PORT: '0',
      // Its own engine, which does not run.
      EYRIE_ENGINE_URL: 'http://127.0.0.1:9',
      EYRIE_EGRESS_ALLOW: `engine=127.0.0.1:${engine.port}`,
      EYRIE_ADMIN_EMAIL: administrator.email,
      EYRIE_ADMIN_PASSWORD: administrator.password,
      DATABASE_URL: url,
    })
    onTestFinished(() => service.kill())
    return service
  }

  // Both create the tables and the secrets, at the same moment.
  const [first, second] = await Promise.all([startManagement(), startManagement()])
  for (const service of [first, second]) {
    await vi.waitFor(async () => expect(await signIn(service)).toEqual(expect.any(String)), WAIT)
  }
  const database = await createDatabase(url)
  onTestFinished(() => database.close())
  const inserted = await insertEngine(database, {
    engine_port: engine.port,
    source_address: SMALL_PICTURE,
  })
  const channelId = await insertChannel(database, inserted, 'line-crossing', {}, [
    { name: 'eventful' },
  ])
  await vi.waitUntil(() => [first, second].some(service => readLastConnection(service) > 0), WAIT)

  const readSeqs = async () => {
    const rows = await database.system('test', tx =>
      tx
        .select({ seq: event.seq })
        .from(event)
        .where(eq(event.channel_id, channelId))
        .orderBy(event.seq),
    )
    return rows.map(({ seq }) => seq)
  }
  return {
    engine,
    database,
    channel_id: channelId,
    engine_id: inserted.engine_id,
    first,
    second,
    startManagement,
    readSeqs,
  }
}

it('two management services share an engine, answer for it, and take over from each other', {
  timeout: 600_000,
}, async () => {
  const {
    engine,
    database,
    channel_id: channelId,
    engine_id: engineId,
    first,
    second,
    startManagement,
    readSeqs,
  } = await startServices()
  const untilMoreEvents = async () => {
    const count = (await readSeqs()).length
    await vi.waitFor(
      async () => expect((await readSeqs()).length).toBeGreaterThan(count + 20),
      WAIT,
    )
  }

  // Only one follows the engine. The other one asks it to work on the engine, and
  // reads what it has found.
  await untilMoreEvents()
  const isFirst = readLastConnection(first) > readLastConnection(second)
  const [holder, successor] = isFirst ? [first, second] : [second, first]
  const token = await signIn(successor)
  const repaired = await call(successor, '/engine/repair', token, { engine_id: engineId })
  expect(repaired).toMatchObject({ status: 200, response: { engine_id: engineId, drift: [] } })
  const [source] = await engine.api.source.list()
  await engine.api.source.modify(source!.id, { rate: 3 })
  expect(await call(successor, `/engine/drift?engine_id=${engineId}`, token)).toMatchObject({
    status: 200,
    response: { drift: [{ field: 'rate', found: 3 }] },
  })

  // When it is killed, the other one goes on, with all events exactly once and with its sessions.
  const earlierToken = await signIn(holder)
  const killedAt = Date.now()
  await holder.kill()
  await vi.waitUntil(() => readLastConnection(successor) > killedAt, WAIT)
  expect((await call(successor, '/user/info', earlierToken)).status).toBe(200)
  await untilMoreEvents()
  const [row] = await database.system('test', tx =>
    tx.select().from(channel).where(eq(channel.channel_id, channelId)),
  )
  const log = await readDurableMessages(engine.api)
  const newest = log.at(-1)!.seq
  await vi.waitFor(
    async () => expect((await readSeqs()).at(-1)).toBeGreaterThanOrEqual(newest - 20),
    WAIT,
  )
  const stored = await readSeqs()
  const expected = log.filter(
    message =>
      message.channel === row!.channel_sid &&
      message.kind !== 'picture' &&
      message.seq <= stored.at(-1)!,
  )
  expect(stored.filter(seq => seq <= newest)).toEqual(expected.map(({ seq }) => seq))

  // Both report an engine that cannot be reached.
  const third = await startManagement()
  await engine.kill()
  for (const instance of [successor, third]) {
    await vi.waitFor(async () => {
      const health = managementHealth.parse(await (await fetch(`${instance.url}/health`)).json())
      expect(health.engines).toContainEqual(
        expect.objectContaining({ engine_id: engineId, status: 'offline' }),
      )
    }, WAIT)
  }
})
