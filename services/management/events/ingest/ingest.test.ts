import { eq, sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createMessageFactory } from '../../../../test/fixtures/management/engine-messages.ts'
import { useIngestDatabase } from '../../../../test/fixtures/management/ingest-database.ts'
import {
  channel,
  engineState,
  pipeline,
  provision,
  statisticMinute,
} from '../../db/schema/index.ts'

const begin = Date.parse('2026-03-04T12:00:00Z')
const second = 1000

const fixture = useIngestDatabase()

const readPosition = async () =>
  (
    await fixture.database.system('test', tx =>
      tx.select().from(engineState).where(eq(engineState.engine_id, fixture.engine.engine_id)),
    )
  )[0]
const readMinutes = () =>
  fixture.database.system('test', tx =>
    tx
      .select()
      .from(statisticMinute)
      .where(eq(statisticMinute.channel_id, fixture.channel_id))
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
    expect(await fixture.consume(messages)).toBe(3)
    expect(await fixture.consume(messages)).toBe(3)
    expect(
      (await fixture.readEvents()).map(({ seq, kind, type, statistics }) => ({
        seq,
        kind,
        type,
        statistics,
      })),
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
    await fixture.consume(messages)
    await fixture.database.system('test', tx =>
      tx
        .update(engineState)
        .set({ seq: 0, log_id: null })
        .where(eq(engineState.engine_id, fixture.engine.engine_id)),
    )
    await fixture.consume(messages)
    expect([await fixture.readEvents(), await readMinutes()].map(({ length }) => length)).toEqual([
      1, 2,
    ])
    expect((await readMinutes())[0]).toMatchObject({ key: 'total', sum: 1 })
  })

  it('stores messages once when they are consumed concurrently', async () => {
    const { hello, crossing } = createMessageFactory()
    const messages = [hello(), ...Array.from({ length: 50 }, (_, n) => crossing(1, begin + n))]
    await Promise.all([1, 2, 3].map(() => fixture.consume(messages)))
    expect(await fixture.readEvents()).toHaveLength(50)
    expect((await readMinutes()).find(({ key }) => key === 'up')).toMatchObject({
      sum: 50,
      count: 50,
    })
  })

  it('skips messages of unmanaged channels and advances the position', async () => {
    const { hello, crossing } = createMessageFactory()
    expect(
      await fixture.consume([hello(), crossing(7, begin), crossing(1, begin), crossing(7, begin)]),
    ).toBe(3)
    expect((await fixture.readEvents()).map(({ seq }) => seq)).toEqual([2])
    expect(await readPosition()).toMatchObject({ seq: 3 })
  })

  it('identifies a new channel by its source and pipeline', async () => {
    await fixture.database.system('test', async tx => {
      await tx
        .update(channel)
        .set({ channel_sid: null })
        .where(eq(channel.channel_id, fixture.channel_id))
      await tx.execute(
        sql`update source set source_sid = 1 where source_id = ${fixture.engine.source_id}`,
      )
      const { engine_id: engineId } = fixture.engine
      const [row] = await tx.select().from(pipeline).where(eq(pipeline.engine_id, engineId))
      const created = { kind: 'pipeline' as const, sid: 1, made_after: 0, applied: '' }
      await tx
        .insert(provision)
        .values({ engine_id: engineId, record_id: row!.pipeline_id, ...created })
    })
    const { hello, crossing } = createMessageFactory()
    await fixture.consume([hello(), crossing(9, begin)])
    expect((await fixture.readEvents()).map(row => row.channel_id)).toEqual([fixture.channel_id])
  })

  it('starts over with a new log that reuses sequence numbers', async () => {
    const [first, second] = [createMessageFactory(), createMessageFactory()]
    await fixture.consume([first.hello(), first.crossing(1, begin), first.crossing(1, begin)])
    await fixture.consume([second.hello(), second.crossing(1, begin)])
    expect(await fixture.readEvents()).toHaveLength(3)
    expect(await readPosition()).toMatchObject({ log_id: second.log_id, seq: 1 })
  })

  it('accepts any time and replaces characters that Postgres rejects', async () => {
    const { hello, crossing, message } = createMessageFactory()
    await fixture.consume([
      hello(),
      crossing(1, Date.parse('1999-01-01T00:00:00Z')),
      crossing(1, Date.parse('2999-01-01T00:00:00Z')),
      crossing(1, begin, 'up', { type: 'odd\0', note: 'half \ud800 of a pair', 'key\0': ['\0'] }),
      message('count', 1, begin, { 'gate \udc00': { up: 1, 'key\0': 1 } }),
    ])
    const stored = await fixture.readEvents()
    expect(stored).toHaveLength(4)
    expect(stored[2]).toMatchObject({
      type: 'odd\ufffd',
      data: { note: 'half \ufffd of a pair', 'key\ufffd': ['\ufffd'] },
    })
  })

  it('continues after a gap', async () => {
    const { hello, crossing } = createMessageFactory()
    await fixture.consume([hello(), { kind: 'gap', from: 1, to: 0 }, crossing(1, begin)])
    await fixture.consume([hello(), { kind: 'gap', from: 2, to: 9 }])
    expect(await readPosition()).toMatchObject({ seq: 9 })
  })
})
