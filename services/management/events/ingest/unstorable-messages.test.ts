import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createMessageFactory } from '../../../../test/fixtures/management/engine-messages.ts'
import { useIngestDatabase } from '../../../../test/fixtures/management/ingest-database.ts'
import { alertSubscriber } from '../../alerts/evaluate-messages.ts'
import { createIngest } from './ingest.ts'
import type { Ingest } from './ingest-port.ts'

const begin = Date.parse('2026-03-04T12:00:00Z')
const SKIPPED = 'skipped engine messages that cannot be stored'

describe('ingest of messages that cannot be stored', () => {
  const fixture = useIngestDatabase()
  let lines: Record<string, unknown>[]
  let ingest: Ingest
  /** Monotonic time of the ingest, in ms. */
  let now: number

  beforeEach(() => {
    lines = []
    now = 0
    const log = pino({ base: null }, { write: line => lines.push(JSON.parse(line)) })
    const subscribers = [alertSubscriber]
    ingest = createIngest({ database: fixture.database, subscribers, log, now: () => now })
  })

  const consume = (messages: Parameters<Ingest['consume']>[1]) =>
    ingest.consume(fixture.engine.engine_id, messages)
  const readSeqs = async () => (await fixture.readEvents()).map(({ seq }) => seq)
  const linesWith = (msg: string) => lines.filter(line => line.msg === msg)

  /** A factory of messages of channel 1, of which the database refuses those of `refused`. */
  function createMessages() {
    const { hello, message, crossing } = createMessageFactory()
    return {
      hello,
      message,
      crossing: () => crossing(1, begin),
      // The column is a whole number.
      refused: () => ({ ...crossing(1, begin), pts: 1.5 }),
    }
  }

  it('stores the messages before and after one that the database refuses, and reports it', async () => {
    const { hello, crossing, refused } = createMessages()
    const messages = [hello(), crossing(), crossing(), refused(), crossing(), crossing()]
    expect(await consume(messages)).toBe(5)
    expect(await readSeqs()).toEqual([1, 2, 4, 5])
    expect(linesWith(SKIPPED)).toMatchObject([
      {
        level: 50,
        engine: 'Engine',
        engine_id: fixture.engine.engine_id,
        channel: 1,
        kind: 'event',
        type: 'line-crossing',
        from: 3,
        to: 3,
        count: 1,
        code: '22P02',
        reason: 'invalid input syntax for type bigint: "1.5"',
      },
    ])
    expect(await consume(messages)).toBe(5)
    expect(lines).toHaveLength(1)
  })

  it('continues after a batch of which no message can be stored', async () => {
    const { hello, crossing, refused } = createMessages()
    expect(await consume([hello(), refused()])).toBe(1)
    expect(await consume([refused(), refused()])).toBe(3)
    expect(await consume([crossing()])).toBe(4)
    expect(await readSeqs()).toEqual([4])
  })

  it('considers all events lost from the tenth in a row that is skipped', async () => {
    const { hello, crossing, refused } = createMessages()
    const { engine_id: engineId } = fixture.engine
    const skip = (count: number) => consume(Array.from({ length: count }, refused))
    await consume([hello()])
    await skip(9)
    expect(ingest.areEventsLost(engineId)).toBeUndefined()
    await skip(1)
    expect(ingest.areEventsLost(engineId)).toBe(true)
    await consume([crossing()])
    expect(ingest.areEventsLost(engineId)).toBe(false)
    await skip(9)
    expect(ingest.areEventsLost(engineId)).toBe(false)
    await skip(1)
    expect(ingest.areEventsLost(engineId)).toBe(true)
  })

  it('reports messages that are refused all the time once a minute, with their number', async () => {
    const { hello, refused } = createMessages()
    await consume([hello(), refused()])
    await consume([refused(), refused()])
    now = 60_000
    await consume([refused()])
    expect(linesWith(SKIPPED)).toMatchObject([
      { from: 1, to: 1, count: 1 },
      { from: 2, to: 4, count: 3 },
    ])
  })

  it.each([
    ['content of another shape', { data: null }, 'TypeError'],
    ['a time that is none', { time: 'yesterday' }, 'RangeError'],
  ])('skips a message with %s', async (_, fields, type) => {
    const { hello, crossing } = createMessages()
    const odd = { ...crossing(), seq: 2, ...fields } as unknown as ReturnType<typeof crossing>
    const messages = [hello(), { ...crossing(), seq: 1 }, odd, { ...crossing(), seq: 3 }]
    expect(await consume(messages)).toBe(3)
    expect(await readSeqs()).toEqual([1, 3])
    // The stack shows where the shape was not expected.
    expect(linesWith(SKIPPED)).toMatchObject([{ from: 2, err: { type } }])
  })

  it('does not count anything of a skipped message', async () => {
    const { hello, message } = createMessages()
    const collision = () => message('event', 1, begin, { type: 'collision' })
    await consume([hello(), collision(), { ...collision(), pts: 1.5 }, collision()])
    const events = await fixture.readEvents()
    expect(events.map(({ statistics }) => statistics)).toEqual([
      { frame_collision: 1, total_collision: 1 },
      { frame_collision: 1, total_collision: 2 },
    ])
  })

  it.each([
    ['a conflict with another transaction', '40001'],
    ['missing rights', '42501'],
    ['a lock that is not available', '55P03'],
    ['a timeout', '57014'],
    ['a lost connection', '08006'],
    ['a full disk', '53100'],
  ])('does not skip messages because of %s', async (_, code) => {
    const { hello, crossing } = createMessages()
    await consume([hello(), crossing()])
    await failInserts(code)
    const messages = [crossing(), crossing()]
    await expect(consume(messages)).rejects.toThrow()
    await execute('drop trigger failing on event')
    expect(await consume(messages)).toBe(3)
    expect(await readSeqs()).toEqual([1, 2, 3])
    expect(lines).toEqual([])
  })

  it('reports once per channel and reason which parts of messages are ignored', async () => {
    const { hello, message } = createMessages()
    const count = (name: string, fire: number) => message('count', 1, begin, { [name]: { fire } })
    await consume([hello(), count('hall', 1e16), count('hall\0', 1), count('hall', 1e16)])
    await consume([count('x'.repeat(501), 1), count('hall', 1e16), count('hall', 1)])
    expect(await readSeqs()).toEqual([1, 2, 3, 4, 5, 6])
    const channel = { level: 40, engine: 'Engine', channel_id: fixture.channel_id, count: 1 }
    expect(lines).toMatchObject([
      { ...channel, from: 1, reason: 'a value exceeds 1000000000000000' },
      { ...channel, from: 2, reason: 'a text contains NUL or half of a surrogate pair' },
      { ...channel, from: 4, reason: 'a name has more than 500 characters' },
    ])
    now = 3_600_000
    await consume([count('hall', 1e16)])
    expect(lines.slice(3)).toMatchObject([{ from: 3, to: 7, count: 3 }])
  })

  it('does not report large numbers that belong to no statistic', async () => {
    const { hello, message } = createMessages()
    await consume([hello(), message('count', 1, begin, { hall: { fire: 1, at: 1.7e15 } })])
    expect(lines).toEqual([])
  })

  const execute = (statement: string) =>
    fixture.database.system('test', tx => tx.execute(sql.raw(statement)))

  /** Makes every insert of an event fail with an error code of Postgres. */
  async function failInserts(code: string) {
    await execute(`
      create or replace function fail() returns trigger language plpgsql as
      $$ begin raise exception 'test' using errcode = '${code}'; end $$`)
    await execute(
      'create trigger failing before insert on event for each row execute function fail()',
    )
    onTestFinished(async () => {
      await execute('drop trigger if exists failing on event')
    })
  }
})
