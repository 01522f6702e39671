import { ENGINE_STATUS, USECASE_KEYWORD } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { useIngestDatabase } from '../../../../test/fixtures/management/ingest-database.ts'
import { engineState, usecase } from '../../db/schema/index.ts'
import { createEngineStateStore } from './engine-state-store.ts'

const fixture = useIngestDatabase()

describe('stored state of an engine', () => {
  it('contains texts of plugins with a NUL, which Postgres rejects, with U+FFFD instead', async () => {
    const { database, engine } = fixture
    const description = 'Finds \0smoke'
    const element = {
      ...{ name: 'smoke', version: '1.0.0', title: 'Smoke', description, passthrough: true },
      ...{ params_schema: null, params_mapping: {}, config_schema: null, input_schema: null },
      output_schema: {
        [USECASE_KEYWORD]: { key: 'nul-smoke', name: 'Smoke', description, meta_keys: [] },
      },
    }
    await createEngineStateStore(database, engine.engine_id).recordConnected({
      about: {
        ...{ name: 'eyrie', version: '1.0.0', api_versions: ['3.0'] },
        ...{ node: '24.0.0', gstreamer: '1.22.0', hostname: 'yard' },
      },
      activation: { activated: true },
      catalog: { elements: [element], models: [], devices: [] },
      statistics: {
        ...{ cpu: 0, mem_physical: 0, mem_virtual: 0, uptime: 1 },
        time: '2026-03-04T12:00:00Z',
      },
      routes: {},
    })
    const [states, usecases] = await database.system('test', tx =>
      Promise.all([
        tx.select().from(engineState).where(eq(engineState.engine_id, engine.engine_id)),
        tx.select().from(usecase).where(eq(usecase.usecase_key, 'nul-smoke')),
      ]),
    )
    expect(states[0]?.engine_catalog?.elements?.[0]?.description).toBe('Finds \ufffdsmoke')
    expect(usecases).toMatchObject([{ usecase_desc: 'Finds \ufffdsmoke' }])
  })

  it('contains the reasons of an engine without characters that Postgres rejects', async () => {
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
})
