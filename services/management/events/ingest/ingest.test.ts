import { asc, eq, sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import {
  createMessageFactory,
  type InsertedEngine,
} from '../../../../test/fixtures/management/engine-messages.ts'
import { useIngestDatabase } from '../../../../test/fixtures/management/ingest-database.ts'
import type { TestDatabase } from '../../../../test/fixtures/management/test-database.ts'
import { channel, engineState, event, statisticMinute } from '../../db/schema/index.ts'
import type { Ingest } from './ingest-port.ts'

const begin = Date.parse('2026-03-04T12:00:00Z')
const second = 1000

let testDatabase: TestDatabase
let ingest: Ingest
let engine: InsertedEngine
let channel_id: string
useIngestDatabase(fixture => {
  testDatabase = fixture.testDatabase
  ingest = fixture.ingest
  engine = fixture.engine
  channel_id = fixture.channel_id
})

const readEvents = () =>
  testDatabase.database.system('test', tx =>
    tx.select().from(event).where(eq(event.engine_id, engine.engine_id)).orderBy(asc(event.seq)),
  )
const readPosition = async () =>
  (
    await testDatabase.database.system('test', tx =>
      tx.select().from(engineState).where(eq(engineState.engine_id, engine.engine_id)),
    )
  )[0]
const readMinutes = () =>
  testDatabase.database.system('test', tx =>
    tx
      .select()
      .from(statisticMinute)
      .where(eq(statisticMinute.channel_id, channel_id))
      .orderBy(statisticMinute.key, statisticMinute.minute),
  )

describe('ingest', () => {
  it('stores repeated messages once, together with the position', async () => {
    const { hello, crossing, message, log_id } = createMessageFactory()
    const messages = [
      hello(),
      crossing(1, begin),
      message('state', 1, begin, { state: 'running' }),
      crossing(1, begin + second, 'down'),
    ]
    expect(await ingest.consume(engine.engine_id, messages)).toBe(3)
    expect(await ingest.consume(engine.engine_id, messages)).toBe(3)
    expect(
      (await readEvents()).map(({ seq, kind, type, statistics }) => ({ seq, kind, type, statistics })),
    ).toEqual([
      { seq: 1, kind: 'event', type: 'line-crossing', statistics: { up: 1, total: 1 } },
      { seq: 2, kind: 'state', type: null, statistics: null },
      { seq: 3, kind: 'event', type: 'line-crossing', statistics: { down: 1, total: 1 } },
    ])
    expect(await readPosition()).toMatchObject({ log_id, seq: 3 })
    expect((await readMinutes()).map(({ key, sum, count }) => [key, sum, count])).toEqual([
      ['down', 1, 1],
      ['total', 2, 2],
      ['up', 1, 1],
    ])
  })

  it('stores messages once even if the position is lost', async () => {
    const { hello, crossing } = createMessageFactory()
    const messages = [hello(), crossing(1, begin)]
    await ingest.consume(engine.engine_id, messages)
    await testDatabase.database.system('test', tx =>
      tx.update(engineState).set({ seq: 0, log_id: null }).where(eq(engineState.engine_id, engine.engine_id)),
    )
    await ingest.consume(engine.engine_id, messages)
    expect([await readEvents(), await readMinutes()].map(({ length }) => length)).toEqual([1, 2])
    expect((await readMinutes())[0]).toMatchObject({ key: 'total', sum: 1 })
  })

  it('stores messages once when they are consumed concurrently', async () => {
    const { hello, crossing } = createMessageFactory()
    const messages = [hello(), ...Array.from({ length: 50 }, (_, n) => crossing(1, begin + n))]
    await Promise.all([1, 2, 3].map(() => ingest.consume(engine.engine_id, messages)))
    expect(await readEvents()).toHaveLength(50)
    expect((await readMinutes()).find(({ key }) => key === 'up')).toMatchObject({ sum: 50, count: 50 })
  })

  it('skips messages of unmanaged channels and advances the position', async () => {
    const { hello, crossing } = createMessageFactory()
    expect(
      await ingest.consume(engine.engine_id, [
        hello(),
        crossing(7, begin),
        crossing(1, begin),
        crossing(7, begin),
      ]),
    ).toBe(3)
    expect((await readEvents()).map(({ seq }) => seq)).toEqual([2])
    expect(await readPosition()).toMatchObject({ seq: 3 })
  })

  it('identifies a new channel by its source and pipeline', async () => {
    await testDatabase.database.system('test', async tx => {
      await tx.update(channel).set({ channel_sid: null }).where(eq(channel.channel_id, channel_id))
      await tx.execute(sql`update source set source_sid = 1 where source_id = ${engine.source_id}`)
      await tx.execute(sql`update pipeline set pipeline_sid = 1 where engine_id = ${engine.engine_id}`)
    })
    const { hello, crossing } = createMessageFactory()
    await ingest.consume(engine.engine_id, [hello(), crossing(9, begin)])
    expect((await readEvents()).map(row => row.channel_id)).toEqual([channel_id])
  })

  it('starts over with a new log that reuses sequence numbers', async () => {
    const [first, second] = [createMessageFactory(), createMessageFactory()]
    await ingest.consume(engine.engine_id, [
      first.hello(),
      first.crossing(1, begin),
      first.crossing(1, begin),
    ])
    await ingest.consume(engine.engine_id, [second.hello(), second.crossing(1, begin)])
    expect(await readEvents()).toHaveLength(3)
    expect(await readPosition()).toMatchObject({ log_id: second.log_id, seq: 1 })
  })

  it('accepts any time and replaces characters that Postgres rejects', async () => {
    const { hello, crossing } = createMessageFactory()
    await ingest.consume(engine.engine_id, [
      hello(),
      crossing(1, Date.parse('1999-01-01T00:00:00Z')),
      crossing(1, Date.parse('2999-01-01T00:00:00Z')),
      crossing(1, begin, 'up', { type: 'odd\0', note: 'half \ud800 of a pair', 'key\0': ['\0'] }),
    ])
    const stored = await readEvents()
    expect(stored).toHaveLength(3)
    expect(stored[2]).toMatchObject({
      type: 'odd\ufffd',
      data: { note: 'half \ufffd of a pair', 'key\ufffd': ['\ufffd'] },
    })
  })

  it('continues after a gap', async () => {
    const { hello, crossing } = createMessageFactory()
    await ingest.consume(engine.engine_id, [hello(), { kind: 'gap', from: 1, to: 0 }, crossing(1, begin)])
    await ingest.consume(engine.engine_id, [hello(), { kind: 'gap', from: 2, to: 9 }])
    expect(await readPosition()).toMatchObject({ seq: 9 })
  })
})
