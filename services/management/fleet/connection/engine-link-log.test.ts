// @module-tag long

import { managementRoutes } from '@eyrie/contract/management/index'
import { eq, sql } from 'drizzle-orm'
import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { startFleet, startManagedEngine } from '../../../../test/fixtures/management/fleet.ts'
import { engine, engineSite } from '../../db/schema/index.ts'

const LONG_MS = 400_000
const WAIT = { timeout: 60_000 }
const { engine: engines } = managementRoutes

/** Starts the management service and collects its log lines. */
async function startWithLog() {
  const lines: Record<string, unknown>[] = []
  const log = pino({ base: null }, { write: line => lines.push(JSON.parse(line)) })
  return { lines, fleet: await startFleet({ log }) }
}

describe('engine log', () => {
  it(
    'names engines by display name, reports a disconnected engine once, and is silent during shutdown',
    async () => {
      const { fleet, lines } = await startWithLog()
      const linesWith = (msg: string) => lines.filter(line => line.msg === msg)
      const first = await startManagedEngine()
      const yard = { engine_name: 'Yard', engine_port: first.port }
      const engineId = await fleet.registerEngine(yard)
      await vi.waitFor(() => {
        expect(linesWith('engine connected')).toMatchObject([
          { engine: 'Yard', url: first.url, engine_id: engineId },
        ])
      }, WAIT)

      const { response } = await fleet.call(engines.status, { engine_id: engineId })
      await fleet.send(engines.update, { ...response, engine_name: 'Car park' })
      // The new name has been read when the next engine is connected.
      const second = await startManagedEngine()
      await fleet.registerEngine({ engine_name: 'Hall', engine_port: second.port })
      await vi.waitFor(() => expect(linesWith('engine connected')).toHaveLength(2), WAIT)

      await first.stop()
      // The link reports the closed connection first, then the refused ones.
      const reason = async () => (await fleet.getEngineStatus(engineId)).engine_reason
      await vi.waitFor(async () => expect(await reason()).toContain('ECONNREFUSED'), WAIT)

      await Promise.all([fleet.fleet.stop(), second.stop()])
      expect(linesWith('failed to connect to engine')).toEqual([])
      expect(linesWith('engine disconnected')).toMatchObject([
        { level: 40, engine: 'Car park', url: first.url, engine_id: engineId },
      ])
    },
    LONG_MS,
  )

  it(
    'contains no error when an engine is deleted before its link is notified',
    async () => {
      const { fleet, lines } = await startWithLog()
      const started = await startManagedEngine()
      const engineId = await fleet.registerEngine({ engine_port: started.port })
      await fleet.untilStatus(engineId, 1)
      const isFollowed = async () =>
        (await started.api.consumer.list()).some(({ name }) => name === 'management')
      await vi.waitUntil(isFollowed, WAIT)

      await fleet.database.system('test', async tx => {
        await tx.execute(sql`alter table engine disable trigger tell_fleet`)
        await tx.delete(engineSite).where(eq(engineSite.engine_id, engineId))
        await tx.delete(engine).where(eq(engine.engine_id, engineId))
      })
      await vi.waitUntil(async () => !(await isFollowed()), WAIT)
      expect(lines.filter(({ level }) => Number(level) >= 50)).toEqual([])
    },
    LONG_MS,
  )
})
