import { managementRoutes } from '@eyrie/contract/management/index'
import { eq, sql } from 'drizzle-orm'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { startFleet, startManagedEngine } from '../../../../test/fixtures/fleet.ts'
import { engine, engineSite } from '../../db/schema/index.ts'

const LONG_MS = 400_000
const PATIENCE = { timeout: 20_000 }
const { engine: engines } = managementRoutes

/** A management, and what it logs. */
async function startLogged() {
  const lines: Record<string, unknown>[] = []
  const log = pino({ base: null }, { write: line => lines.push(JSON.parse(line)) })
  return { lines, fleet: await startFleet({ log }) }
}

test(
  'the log names engines as an operator knows them, says once that one is away, and nothing when everything stops',
  async () => {
    const { fleet, lines } = await startLogged()
    const said = (msg: string) => lines.filter(line => line.msg === msg)
    const first = await startManagedEngine()
    const yard = { engine_name: 'Yard', engine_port: first.port }
    const engine_id = await fleet.register(yard)
    await fleet.until(engine_id, 1)
    expect(said('an engine is there')).toMatchObject([{ engine: 'Yard', url: first.url, engine_id }])

    const { response } = await fleet.call(engines.status, { engine_id })
    await fleet.send(engines.update, { ...response, engine_name: 'Car park' })
    // When it is known of the next engine, it is known of the name, too.
    const second = await startManagedEngine()
    await fleet.register({ engine_name: 'Hall', engine_port: second.port })
    await vi.waitFor(() => expect(said('an engine is there')).toHaveLength(2), PATIENCE)

    await first.stop()
    // It was heard of its end, and then that nobody listens there.
    const reason = async () => (await fleet.status(engine_id)).engine_reason
    await vi.waitFor(async () => expect(await reason()).toContain('ECONNREFUSED'), PATIENCE)

    await Promise.all([fleet.fleet.stop(), second.stop()])
    expect(said('an engine is away')).toMatchObject([
      { level: 40, engine: 'Car park', url: first.url, engine_id },
    ])
  },
  LONG_MS,
)

test(
  'the log has no error when an engine goes out of management before that is heard',
  async () => {
    const { fleet, lines } = await startLogged()
    const started = await startManagedEngine()
    const engine_id = await fleet.register({ engine_port: started.port })
    await fleet.until(engine_id, 1)
    const follows = async () => (await started.api.consumer.list()).some(({ name }) => name === 'management')
    await vi.waitUntil(follows, PATIENCE)

    await fleet.database.system('test', async tx => {
      await tx.execute(sql`alter table engine disable trigger tell_fleet`)
      await tx.delete(engineSite).where(eq(engineSite.engine_id, engine_id))
      await tx.delete(engine).where(eq(engine.engine_id, engine_id))
    })
    await vi.waitUntil(async () => !(await follows()), PATIENCE)
    expect(lines.filter(({ level }) => Number(level) >= 50)).toEqual([])
  },
  LONG_MS,
)
