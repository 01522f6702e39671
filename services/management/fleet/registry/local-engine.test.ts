import { eq } from 'drizzle-orm'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../../../../test/fixtures/management-database.ts'
import { temporaryFolder } from '../../../../test/fixtures/temporary.ts'
import { engine } from '../../db/schema/index.ts'
import { loadSecrets } from '../../secrets/secrets.ts'
import { registerLocalEngine } from './local-engine.ts'

async function box() {
  const { database, remove } = await createTestDatabase()
  onTestFinished(remove)
  const secrets = loadSecrets(temporaryFolder())
  return {
    start: (url: string, token?: string) => registerLocalEngine(database, secrets, { url, token }),
    engines: async () => {
      const rows = await database.system('test', tx => tx.select().from(engine))
      return rows.map(row => ({ ...row, engine_key: secrets.open(row.engine_key) }))
    },
    remove: (engine_id: string) =>
      database.system('test', tx => tx.delete(engine).where(eq(engine.engine_id, engine_id))),
  }
}

test('the engine of the box is registered once, and keeps its address and token as they are', async () => {
  const { start, engines } = await box()
  await start('http://127.0.0.1:8100', 'first')
  const [made] = await engines()
  expect(made).toMatchObject({
    engine_name: 'local',
    engine_address: '127.0.0.1',
    engine_port: 8100,
    engine_is_secure: false,
    engine_key: 'first',
    organization_id: null,
  })
  await start('http://127.0.0.1:8100', 'first')
  expect(await engines()).toEqual([made])
  await start('https://[::1]:9100', 'second')
  const moved = { engine_address: '::1', engine_port: 9100, engine_is_secure: true, engine_key: 'second' }
  expect(await engines()).toMatchObject([{ engine_id: made!.engine_id, ...moved }])
})

test('once it has been taken out of management it stays out', async () => {
  const { start, engines, remove } = await box()
  await start('http://127.0.0.1:8100')
  await remove((await engines())[0]!.engine_id)
  await start('http://127.0.0.1:8100')
  expect(await engines()).toEqual([])
})
