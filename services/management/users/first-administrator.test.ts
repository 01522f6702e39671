import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../../../test/fixtures/management-database.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'
import { user } from '../db/schema/index.ts'
import { provideFirstAdministrator } from './first-administrator.ts'
import { createPasswords, type Passwords } from './passwords.ts'

let passwords: Passwords
beforeAll(async () => {
  passwords = await createPasswords()
})

async function appliance(given: { email?: string; password?: string } = {}) {
  const { database, remove } = await createTestDatabase()
  onTestFinished(remove)
  const data = temporaryFolder()
  let said = ''
  const log = pino(
    new Writable({
      write(chunk, _, done) {
        said += chunk
        done()
      },
    }),
  )
  const options = { data, given: { email: undefined, password: undefined, ...given }, passwords, log }
  const start = () => provideFirstAdministrator(database, options)
  const users = () => database.system('test', tx => tx.select().from(user))
  return { file: join(data, 'secrets/admin'), start, users, said: () => said }
}

test('the first start makes an administrator whose password is said once, and kept for its owner alone', async () => {
  const { file, start, users, said } = await appliance()
  await start()
  const [email, password] = readFileSync(file, 'utf8').trim().split('\n') as [string, string]
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const [made] = await users()
  expect(made).toMatchObject({ email, is_active: true, is_verified: true })
  expect(await passwords.verify(made!.password_hash, password)).toBe(true)
  await start()
  expect(await users()).toHaveLength(1)
  expect(said().split(password)).toHaveLength(2)
})

test('what the owner has set is used, and its password is written nowhere', async () => {
  const given = { email: 'owner@eyrie.test', password: 'correct horse' }
  const { file, start, users, said } = await appliance(given)
  await start()
  const [made] = await users()
  expect(made!.email).toBe(given.email)
  expect(await passwords.verify(made!.password_hash, given.password)).toBe(true)
  expect(said()).not.toContain(given.password)
  expect(existsSync(file)).toBe(false)
})

test('two that start at the same moment make one administrator', async () => {
  const { start, users } = await appliance()
  await Promise.all([start(), start()])
  expect(await users()).toHaveLength(1)
})
