import { asc, eq, sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createTeller, type HeardEngine } from '../../../../test/fixtures/heard-channel.ts'
import { useHeardDatabase } from '../../../../test/fixtures/heard-database.ts'
import type { TestDatabase } from '../../../../test/fixtures/management-database.ts'
import { channel, engineState, event, statisticMinute } from '../../db/schema/index.ts'
import type { Ingest } from './ingest-port.ts'

const begin = Date.parse('2026-03-04T12:00:00Z')
const second = 1000

let its: TestDatabase
let ingest: Ingest
let heard: HeardEngine
let channel_id: string
useHeardDatabase(here => {
  ;({ its, ingest, heard, channel_id } = here)
})

const rows = () =>
  its.database.system('test', tx =>
    tx.select().from(event).where(eq(event.engine_id, heard.engine_id)).orderBy(asc(event.seq)),
  )
const place = async () =>
  (
    await its.database.system('test', tx =>
      tx.select().from(engineState).where(eq(engineState.engine_id, heard.engine_id)),
    )
  )[0]
const minutes = () =>
  its.database.system('test', tx =>
    tx
      .select()
      .from(statisticMinute)
      .where(eq(statisticMinute.channel_id, channel_id))
      .orderBy(statisticMinute.key, statisticMinute.minute),
  )

describe('what an engine tells', () => {
  it('is stored once, with how far it has been followed, however often it comes', async () => {
    const { hello, crossing, tell, log_id } = createTeller()
    const told = [
      hello(),
      crossing(1, begin),
      tell('state', 1, begin, { state: 'running' }),
      crossing(1, begin + second, 'down'),
    ]
    expect(await ingest.consume(heard.engine_id, told)).toBe(3)
    expect(await ingest.consume(heard.engine_id, told)).toBe(3)
    expect(
      (await rows()).map(({ seq, kind, type, statistics }) => ({ seq, kind, type, statistics })),
    ).toEqual([
      { seq: 1, kind: 'event', type: 'line-crossing', statistics: { up: 1, total: 1 } },
      { seq: 2, kind: 'state', type: null, statistics: null },
      { seq: 3, kind: 'event', type: 'line-crossing', statistics: { down: 1, total: 1 } },
    ])
    expect(await place()).toMatchObject({ log_id, seq: 3 })
    expect((await minutes()).map(({ key, sum, count }) => [key, sum, count])).toEqual([
      ['down', 1, 1],
      ['total', 2, 2],
      ['up', 1, 1],
    ])
  })

  it('is stored once though its place was lost', async () => {
    const { hello, crossing } = createTeller()
    const told = [hello(), crossing(1, begin)]
    await ingest.consume(heard.engine_id, told)
    await its.database.system('test', tx =>
      tx.update(engineState).set({ seq: 0, log_id: null }).where(eq(engineState.engine_id, heard.engine_id)),
    )
    await ingest.consume(heard.engine_id, told)
    expect([await rows(), await minutes()].map(({ length }) => length)).toEqual([1, 2])
    expect((await minutes())[0]).toMatchObject({ key: 'total', sum: 1 })
  })

  it('is stored once though two take it at a time', async () => {
    const { hello, crossing } = createTeller()
    const told = [hello(), ...Array.from({ length: 50 }, (_, n) => crossing(1, begin + n))]
    await Promise.all([1, 2, 3].map(() => ingest.consume(heard.engine_id, told)))
    expect(await rows()).toHaveLength(50)
    expect((await minutes()).find(({ key }) => key === 'up')).toMatchObject({ sum: 50, count: 50 })
  })

  it('of channels that management did not make is passed over, and its place moves on', async () => {
    const { hello, crossing } = createTeller()
    expect(
      await ingest.consume(heard.engine_id, [
        hello(),
        crossing(7, begin),
        crossing(1, begin),
        crossing(7, begin),
      ]),
    ).toBe(3)
    expect((await rows()).map(({ seq }) => seq)).toEqual([2])
    expect(await place()).toMatchObject({ seq: 3 })
  })

  it('of a channel is known by source and pipeline before its id has been noted', async () => {
    await its.database.system('test', async tx => {
      await tx.update(channel).set({ channel_sid: null }).where(eq(channel.channel_id, channel_id))
      await tx.execute(sql`update source set source_sid = 1 where source_id = ${heard.source_id}`)
      await tx.execute(sql`update pipeline set pipeline_sid = 1 where engine_id = ${heard.engine_id}`)
    })
    const { hello, crossing } = createTeller()
    await ingest.consume(heard.engine_id, [hello(), crossing(9, begin)])
    expect((await rows()).map(row => row.channel_id)).toEqual([channel_id])
  })

  it('begins anew with another log, whose numbers may be those of the one before', async () => {
    const [first, second] = [createTeller(), createTeller()]
    await ingest.consume(heard.engine_id, [first.hello(), first.crossing(1, begin), first.crossing(1, begin)])
    await ingest.consume(heard.engine_id, [second.hello(), second.crossing(1, begin)])
    expect(await rows()).toHaveLength(3)
    expect(await place()).toMatchObject({ log_id: second.log_id, seq: 1 })
  })

  it('may be of any time, and hold what Postgres does not keep', async () => {
    const { hello, crossing } = createTeller()
    await ingest.consume(heard.engine_id, [
      hello(),
      crossing(1, Date.parse('1999-01-01T00:00:00Z')),
      crossing(1, Date.parse('2999-01-01T00:00:00Z')),
      crossing(1, begin, 'up', { type: 'odd\0', note: 'half \ud800 of a pair', 'key\0': ['\0'] }),
    ])
    const stored = await rows()
    expect(stored).toHaveLength(3)
    expect(stored[2]).toMatchObject({
      type: 'odd\ufffd',
      data: { note: 'half \ufffd of a pair', 'key\ufffd': ['\ufffd'] },
    })
  })

  it('is told of where the engine no longer had it, and followed behind the gap', async () => {
    const { hello, crossing } = createTeller()
    await ingest.consume(heard.engine_id, [hello(), { kind: 'gap', from: 1, to: 0 }, crossing(1, begin)])
    await ingest.consume(heard.engine_id, [hello(), { kind: 'gap', from: 2, to: 9 }])
    expect(await place()).toMatchObject({ seq: 9 })
  })
})
