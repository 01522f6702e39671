import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { useIngestDatabase } from '../../../../test/fixtures/management/ingest-database.ts'
import { engineState } from '../../db/schema/index.ts'
import { createEngineStateStore } from './engine-state-store.ts'

const fixture = useIngestDatabase()

it('texts of an engine are stored without characters that Postgres rejects', async () => {
  const { database, engine } = fixture
  const states = createEngineStateStore(database, engine.engine_id)
  const condition = {
    time: '2026-03-04T12:00:00Z',
    sources: [{ id: 1, type: 'video' as const, state: 'reconnecting' as const, reason: 'a\0b' }],
  }
  await states.recordCondition({ condition, requestedMs: 1, receivedMs: 2 })
  await states.recordDisconnected(ENGINE_STATUS.error, 'c\0d')
  const [state] = await database.system('test', tx =>
    tx.select().from(engineState).where(eq(engineState.engine_id, engine.engine_id)),
  )
  expect(state).toMatchObject({
    condition: { condition: { sources: [{ reason: 'a\ufffdb' }] } },
    reason: 'c\ufffdd',
  })
})
