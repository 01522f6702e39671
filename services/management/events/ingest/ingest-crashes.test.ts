// @module-tag long

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createLog } from '@eyrie/kit'
import { asc, eq, sql } from 'drizzle-orm'
import { v7 } from 'uuid'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Random } from '../../../../scene/maths/random.ts'
import { readDurableMessages } from '../../../../test/fixtures/engine/engine-client.ts'
import { writePlugin } from '../../../../test/fixtures/engine/test-plugin.ts'
import {
  insertChannel,
  insertEngine,
} from '../../../../test/fixtures/management/engine-messages.ts'
import { createTestDatabase } from '../../../../test/fixtures/management/test-database.ts'
import { serveMedia } from '../../../../test/fixtures/media/served-media.ts'
import { SMALL_PICTURE } from '../../../../test/fixtures/media/small-picture.ts'
import { localEngineEgress } from '../../../../test/fixtures/network/local-egress.ts'
import {
  type EngineProcess,
  startEngineProcess,
} from '../../../../test/fixtures/processes/engine-process.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import {
  alert,
  channel,
  engineState,
  event,
  notification,
  statisticMinute,
} from '../../db/schema/index.ts'
import { fetchPictures } from '../pictures/picture-fetcher.ts'
import { createPictureSource } from '../pictures/picture-source.ts'
import { createPictureStore } from '../pictures/picture-store.ts'

const LONG_MS = 900_000
const KILLS = 6

/** Sends three events and a count with every frame. */
const eventful = `
  let n = 0
  return {
    process() {
      n += 1
      const crossing = direction => ({ type: 'line-crossing', name: 'door', direction, track: n })
      return {
        events: [crossing('up'), crossing('down'), { type: 'zone-exit', name: 'hall', dwell_time: n % 7 }],
        counters: { hall: { occupancy: n % 5 } },
      }
    },
  }`

describe('ingest after crashes of management and engine', () => {
  it(
    'stores every message exactly once and notifies once per event',
    async () => {
      const testDatabase = await createTestDatabase()
      onTestFinished(testDatabase.remove)
      const { database } = testDatabase
      const media = await serveMedia()
      const data = createTemporaryFolder()
      const plugins = createTemporaryFolder()
      const secrets = createTemporaryFolder()
      writePlugin(plugins, { name: 'eventful', open: eventful })
      const random = new Random(5)
      let engine: EngineProcess | undefined
      let fleetProcess: ChildProcess | undefined
      onTestFinished(async () => {
        fleetProcess?.kill('SIGKILL')
        await engine?.kill()
      })

      const startEngine = async (variables: Record<string, string> = {}) => {
        engine = await startEngineProcess({ data, media, plugins, variables })
        return engine
      }
      const startFleetProcess = () => {
        fleetProcess = fork(join(import.meta.dirname, 'fleet-process.fixture.ts'), [
          JSON.stringify(testDatabase.target),
          secrets,
        ])
        return fleetProcess
      }

      const killFleetProcess = async () => {
        const exited = once(fleetProcess!, 'exit')
        fleetProcess!.kill('SIGKILL')
        await exited
      }

      const { port } = await startEngine()
      const insertedEngine = await insertEngine(database, {
        engine_port: port,
        source_address: SMALL_PICTURE,
      })
      const channelId = await insertChannel(database, insertedEngine, 'line-crossing', {}, [
        { name: 'eventful' },
      ])
      await database.system('test', tx =>
        tx.insert(alert).values({
          alert_id: v7(),
          channel_id: channelId,
          alert_name: 'Each',
          alert_priority: 'low',
          alert_actions: [],
          alert_threshold: '1',
          alert_threshold_condition: 'gte',
          alert_threshold_key: 'up',
          alert_frequency: 0,
        }),
      )
      const readSeq = async () => {
        const where = eq(engineState.engine_id, insertedEngine.engine_id)
        const [state] = await database.system('test', tx =>
          tx.select().from(engineState).where(where),
        )
        return state?.seq ?? 0
      }
      const untilStored = (seq: number) =>
        vi.waitFor(async () => expect(await readSeq()).toBeGreaterThanOrEqual(seq), {
          timeout: 180_000,
          interval: 50,
        })

      startFleetProcess()
      for (let killed = 0; killed < KILLS; killed += 1) {
        await untilStored((await readSeq()) + 20)
        await wait(random.between(0, 300))
        if (killed % 3 === 2) {
          await engine!.kill()
          await startEngine({ EYRIE_ENGINE_PORT: String(port) })
        } else {
          await killFleetProcess()
          startFleetProcess()
        }
      }
      const log = await readDurableMessages(engine!.api)
      const newest = log.at(-1)!.seq
      await untilStored(newest)
      await killFleetProcess()

      const [channelRow] = await database.system('test', tx =>
        tx.select().from(channel).where(eq(channel.channel_id, channelId)),
      )
      const expected = log.filter(
        message => message.channel === channelRow!.channel_sid && message.kind !== 'picture',
      )
      const rows = await database.system('test', tx =>
        tx.select().from(event).where(eq(event.channel_id, channelId)).orderBy(asc(event.seq)),
      )
      const stored = rows.filter(({ seq }) => seq <= newest)
      expect(expected.length).toBeGreaterThan(KILLS * 20)
      expect(
        stored.map(({ seq, kind, time, pts }) => ({ seq, kind, time: time.toISOString(), pts })),
      ).toEqual(expected.map(({ seq, kind, time, pts }) => ({ seq, kind, time, pts })))

      const ups = rows.filter(({ statistics }) => statistics?.up)
      const notified = await database.system('test', tx =>
        tx
          .select()
          .from(notification)
          .where(eq(notification.channel_id, channelId))
          .orderBy(asc(notification.notification_time)),
      )
      const minutes = await database.system('test', tx =>
        tx
          .select({
            key: statisticMinute.key,
            sum: sql<number>`sum(${statisticMinute.sum})`,
            count: sql<number>`sum(${statisticMinute.count})::int`,
          })
          .from(statisticMinute)
          .where(eq(statisticMinute.channel_id, channelId))
          .groupBy(statisticMinute.key),
      )
      expect(notified.map(({ notification_time }) => notification_time)).toEqual(
        ups.map(({ time }) => time),
      )
      expect(minutes.find(({ key }) => key === 'up')).toMatchObject({
        sum: ups.length,
        count: ups.length,
      })

      const store = createPictureStore(createTemporaryFolder())
      const address = { url: engine!.url, token: '', timeoutMs: 30_000 }
      await fetchPictures({
        database,
        source: createPictureSource(async () => address, localEngineEgress),
        store,
        log: createLog('test', 'silent'),
        signal: new AbortController().signal,
      })
      const shown = notified.flatMap(({ picture }) => picture ?? [])
      expect(shown.length).toBeGreaterThan(0)
      const jpegs = await Promise.all(shown.map(sha256 => store.read(sha256)))
      expect(jpegs.filter(jpeg => jpeg?.[0] === 0xff && jpeg[1] === 0xd8)).toHaveLength(
        shown.length,
      )
    },
    LONG_MS,
  )
})
