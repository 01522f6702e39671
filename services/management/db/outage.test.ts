import type { HealthReport } from '@eyrie/contract/health'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { childOf } from '../../../test/fixtures/processes.ts'
import { type ServiceProcess, startService } from '../../../test/fixtures/service.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'

let management: ServiceProcess

const serverOf = ({ pid }: ServiceProcess) => childOf(pid, 'native/bin/postgres')

/** Somebody who is not known tries to sign in, which the database has to be asked for. */
const signIn = () =>
  fetch(`${management.url}/api/v1/user/auth`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'nobody@eyrie.test', password: 'correct horse battery staple' }),
  })

/** A first start takes seconds where nothing else goes on. */
const answers = (status: number) =>
  vi.waitUntil(async () => (await signIn()).status === status, { timeout: 100_000, interval: 50 })

describe('management, where the database', () => {
  beforeEach(async () => {
    const data = temporaryFolder()
    management = await startService('management', { EYRIE_DATA: data, EYRIE_MANAGEMENT_PORT: '0' })
    onTestFinished(() => management.stop())
  })

  test('starts behind it and dies under it, says so, goes on, and leaves nothing behind', async () => {
    const early = await signIn()
    expect(early.status).toBe(503)
    expect(early.headers.get('retry-after')).toBe('2')
    expect(await early.json()).toMatchObject({
      response_code: 503,
      message: expect.stringContaining('database'),
    })
    expect((await fetch(`${management.url}/health`)).status).toBe(200)
    await answers(404)

    const server = serverOf(management)
    process.kill(server, 'SIGKILL')
    await answers(503)
    expect((await fetch(`${management.url}/health`)).status).toBe(200)
    await answers(404)

    const next = serverOf(management)
    expect(next).not.toBe(server)
    await management.stop()
    expect(() => process.kill(next, 0)).toThrow('ESRCH')
  }, 300_000)
})

test('management that cannot reach the database it was given says where to look, without the password', async () => {
  management = await startService('management', {
    EYRIE_DATA: temporaryFolder(),
    EYRIE_MANAGEMENT_PORT: '0',
    DATABASE_URL: 'postgres://eyrie:xyzzy@127.0.0.1:9/eyrie',
  })
  onTestFinished(() => management.stop())
  const health = async () => (await (await fetch(`${management.url}/health`)).json()) as HealthReport
  await vi.waitUntil(async () => (await health()).alarms?.length === 1)
  const { alarms = [] } = await health()
  expect(alarms[0]).toMatch(/the database cannot be used: .*127\.0\.0\.1:9/)
  expect((await signIn()).status).toBe(503)
  expect(management.lines.join('\n')).not.toContain('xyzzy')
})
