import { eq } from 'drizzle-orm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../../../../test/fixtures/management/test-database.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { engine } from '../../db/schema/index.ts'
import { loadSecrets } from '../../secrets/secrets.ts'
import { registerLocalEngine } from './local-engine.ts'

async function createAppliance() {
  const { database, remove } = await createTestDatabase()
  onTestFinished(remove)
  const secrets = loadSecrets(createTemporaryFolder())
  return {
    start: (url: string, token?: string) => registerLocalEngine(database, secrets, { url, token }),
    engines: async () => {
      const rows = await database.system('test', tx => tx.select().from(engine))
      return rows.map(row => ({ ...row, engine_key: secrets.decrypt(row.engine_key) }))
    },
    remove: (engineId: string) =>
      database.system('test', tx => tx.delete(engine).where(eq(engine.engine_id, engineId))),
  }
}

describe('local engine', () => {
  it('is registered once, and its address and token are updated at every start', async () => {
    const { start, engines } = await createAppliance()
    await start('http://127.0.0.1:8100', 'first')
    const [registered] = await engines()
    expect(registered).toMatchObject({
      engine_name: 'local',
      engine_address: '127.0.0.1',
      engine_port: 8100,
      engine_is_secure: false,
      engine_key: 'first',
      organization_id: null,
    })
    await start('http://127.0.0.1:8100', 'first')
    expect(await engines()).toEqual([registered])
    await start('https://[::1]:9100', 'second')
    const moved = {
      engine_address: '::1',
      engine_port: 9100,
      engine_is_secure: true,
      engine_key: 'second',
    }
    expect(await engines()).toMatchObject([{ engine_id: registered!.engine_id, ...moved }])
  })

  it('is not registered again after an operator has deleted it', async () => {
    const { start, engines, remove } = await createAppliance()
    await start('http://127.0.0.1:8100')
    await remove((await engines())[0]!.engine_id)
    await start('http://127.0.0.1:8100')
    expect(await engines()).toEqual([])
  })
})
