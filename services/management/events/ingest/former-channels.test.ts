import { createLog } from '@eyrie/kit'
import { eq, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { unreachableEngine } from '../../../../test/fixtures/management/channel-records.ts'
import { createMessageFactory } from '../../../../test/fixtures/management/engine-messages.ts'
import { useIngestDatabase } from '../../../../test/fixtures/management/ingest-database.ts'
import {
  channel,
  engine,
  engineState,
  event,
  formerChannel,
  picture,
  statisticMinute,
} from '../../db/schema/index.ts'
import { moveSource } from '../../placement/move-sources.ts'
import { schedulePictureFetches } from '../pictures/picture-fetch.ts'
import { createIngest } from './ingest.ts'

const SECOND = 1000
const PICTURE = 'a'.repeat(64)

describe('messages of a channel that was moved', () => {
  const fixture = useIngestDatabase()
  /** The engine to which the channel was moved, where it has the id 7. */
  let successor: string
  /** When it was moved, in epoch ms. */
  let movedMs: number
  let first: ReturnType<typeof createMessageFactory>
  let second: ReturnType<typeof createMessageFactory>

  const consumeFrom = (engineId: string, messages: Parameters<typeof fixture.consume>[0]) =>
    createIngest({ database: fixture.database, log: createLog('test', 'silent') }).consume(
      engineId,
      messages,
    )

  const readTimes = async () => {
    const rows = await fixture.database.system('test', tx =>
      tx
        .select({ time: event.time })
        .from(event)
        .where(eq(event.channel_id, fixture.channel_id))
        .orderBy(event.time),
    )
    return rows.map(({ time }) => Math.round((time.getTime() - movedMs) / SECOND))
  }

  const readSum = async (key: string) => {
    const [row] = await fixture.database.system('test', tx =>
      tx
        .select({ sum: sql<number>`coalesce(sum(${statisticMinute.sum}), 0)::int` })
        .from(statisticMinute)
        .where(
          sql`${statisticMinute.channel_id} = ${fixture.channel_id} and ${statisticMinute.key} = ${key}`,
        ),
    )
    return row!.sum
  }

  const running = (factory: typeof first, sid: number, at: number) =>
    factory.message('state', sid, at, { state: 'running' })

  beforeEach(async () => {
    const { database, engine: from } = fixture
    first = createMessageFactory()
    second = createMessageFactory()
    movedMs = Date.now()
    await fixture.consume([first.hello(), first.crossing(1, movedMs - 60 * SECOND)])
    await database.system('test', async tx => {
      const [added] = await tx.insert(engine).values(unreachableEngine).returning()
      successor = added!.engine_id
      const state = { provisioned_log_id: first.log_id }
      await tx.update(engineState).set(state).where(eq(engineState.engine_id, from.engine_id))
      await moveSource(tx, {
        source_id: from.source_id,
        from_engine_id: from.engine_id,
        to_engine_id: successor,
      })
      await tx
        .update(formerChannel)
        .set({ moved_at: new Date(movedMs) })
        .where(eq(formerChannel.channel_id, fixture.channel_id))
      await tx
        .update(channel)
        .set({ channel_sid: 7 })
        .where(eq(channel.channel_id, fixture.channel_id))
    })
  })

  it('count up to the first message of the new engine, and those of the new engine from then on', async () => {
    await consumeFrom(successor, [
      second.hello(),
      second.message('state', 7, movedMs + 2 * SECOND, { state: 'starting' }),
      running(second, 7, movedMs + 5 * SECOND),
      second.crossing(7, movedMs + 6 * SECOND),
    ])
    await fixture.consume([
      first.hello(),
      ...[-10, 1, 4, 5, 6, 30].map(seconds => first.crossing(1, movedMs + seconds * SECOND)),
    ])
    // The states at 2 and 5 are stored, too.
    expect(await readTimes()).toEqual([-60, -10, 1, 2, 4, 5, 6])
    expect(await readSum('up')).toBe(5)
  })

  it('count up to the move while the new engine has no result', async () => {
    await fixture.consume([
      first.hello(),
      ...[-10, 1].map(seconds => first.crossing(1, movedMs + seconds * SECOND)),
    ])
    expect(await readTimes()).toEqual([-60, -10])
  })

  it('have counters of their own on each engine', async () => {
    const violations = (factory: typeof first, sid: number, at: number, violation: number) =>
      factory.message('count', sid, at, { hall: { violation } })
    await consumeFrom(successor, [
      second.hello(),
      running(second, 7, movedMs + 5 * SECOND),
      violations(second, 7, movedMs + 6 * SECOND, 2),
    ])
    await fixture.consume([
      first.hello(),
      violations(first, 1, movedMs - 10 * SECOND, 100),
      violations(first, 1, movedMs + 1 * SECOND, 103),
      violations(first, 1, movedMs + 7 * SECOND, 110),
    ])
    await consumeFrom(successor, [second.hello(), violations(second, 7, movedMs + 9 * SECOND, 3)])
    expect(await readSum('violation')).toBe(103 + 3)
  })

  it('of another log of the earlier engine are those of an unknown channel', async () => {
    const wiped = createMessageFactory()
    await fixture.consume([wiped.hello(), wiped.crossing(1, movedMs - 10 * SECOND)])
    expect(await readTimes()).toEqual([-60])
  })

  it('bring pictures from the engine that has them', async () => {
    await fixture.consume([
      first.hello(),
      first.crossing(1, movedMs - 10 * SECOND, 'up', { picture: PICTURE }),
    ])
    const { channel_id } = fixture
    await fixture.database.system('test', tx =>
      schedulePictureFetches(tx, [
        { sha256: PICTURE, channel_id, is_storage: true, timeMs: movedMs - 10 * SECOND },
      ]),
    )
    const [row] = await fixture.database.system('test', tx =>
      tx.select().from(picture).where(eq(picture.sha256, PICTURE)),
    )
    expect(row).toMatchObject({ engine_id: fixture.engine.engine_id })
  })
})
