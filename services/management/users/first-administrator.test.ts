import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../../../test/fixtures/management/test-database.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { user } from '../db/schema/index.ts'
import { ensureFirstAdministrator } from './first-administrator.ts'
import { createPasswords, type Passwords } from './passwords.ts'

let passwords: Passwords
beforeAll(async () => {
  passwords = await createPasswords()
})

async function createAppliance(configured: { email?: string; password?: string } = {}) {
  const { database, remove } = await createTestDatabase()
  onTestFinished(remove)
  const data = createTemporaryFolder()
  let logged = ''
  const printed: string[] = []
  const log = pino(
    new Writable({
      write(chunk, _, done) {
        logged += chunk
        done()
      },
    }),
  )
  const options = {
    data,
    configured: { email: undefined, password: undefined, ...configured },
    passwords,
    log,
    print: (text: string) => void printed.push(text),
  }
  const start = () => ensureFirstAdministrator(database, options)
  const users = () => database.system('test', tx => tx.select().from(user))
  return { file: join(data, 'secrets/admin'), start, users, printed, logged: () => logged }
}

describe('first administrator', () => {
  it('is created by the first start, which prints the password once, does not log it, and stores it with mode 600', async () => {
    const { file, start, users, printed, logged } = await createAppliance()
    await start()
    const [email, password] = readFileSync(file, 'utf8').trim().split('\n') as [string, string]
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const [administrator] = await users()
    expect(administrator).toMatchObject({ email, is_active: true, is_verified: true })
    expect(await passwords.verify(administrator!.password_hash, password)).toBe(true)
    await start()
    expect(await users()).toHaveLength(1)
    expect(printed.join().split(password)).toHaveLength(2)
    expect(logged()).not.toContain(password)
    expect(logged()).toContain(file)
  })

  it('has the configured credentials; the password is neither logged nor stored', async () => {
    const configured = { email: 'owner@eyrie.test', password: 'correct horse' }
    const { file, start, users, logged } = await createAppliance(configured)
    await start()
    const [administrator] = await users()
    expect(administrator!.email).toBe(configured.email)
    expect(await passwords.verify(administrator!.password_hash, configured.password)).toBe(true)
    expect(logged()).not.toContain(configured.password)
    expect(existsSync(file)).toBe(false)
  })

  it('is created only once by two concurrent starts', async () => {
    const { start, users } = await createAppliance()
    await Promise.all([start(), start()])
    expect(await users()).toHaveLength(1)
  })
})
