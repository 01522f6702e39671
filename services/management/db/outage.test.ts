import type { HealthReport } from '@eyrie/contract/health'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { findChildPid } from '../../../test/fixtures/processes/processes.ts'
import {
  type ServiceProcess,
  startService,
} from '../../../test/fixtures/processes/service-process.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

async function startManagement(environment: Record<string, string> = {}): Promise<ServiceProcess> {
  const management = await startService('management', {
    EYRIE_DATA: createTemporaryFolder(),
    EYRIE_MANAGEMENT_PORT: '0',
    ...environment,
  })
  onTestFinished(() => management.stop())
  return management
}

const databaseServerOf = ({ pid }: ServiceProcess) => findChildPid(pid, 'native/bin/postgres')

/** An unknown user signs in, which takes a query. */
const signIn = ({ url }: ServiceProcess) =>
  fetch(`${url}/api/v1/user/auth`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'nobody@eyrie.test', password: 'correct horse battery staple' }),
  })

/** The first start of a database takes seconds on an idle machine. */
const waitForStatus = (management: ServiceProcess, status: number) =>
  vi.waitUntil(async () => (await signIn(management)).status === status, {
    timeout: 100_000,
    interval: 50,
  })

const getHealth = ({ url }: ServiceProcess) => fetch(`${url}/health`)

describe('management service without its database', () => {
  it('answers 503 until the database has started and while it restarts, and leaves no process behind', async () => {
    const management = await startManagement()
    const early = await signIn(management)
    expect(early.status).toBe(503)
    expect(early.headers.get('retry-after')).toBe('2')
    expect(await early.json()).toMatchObject({
      response_code: 503,
      message: expect.stringContaining('database'),
    })
    expect((await getHealth(management)).status).toBe(200)
    await waitForStatus(management, 404)

    const killed = databaseServerOf(management)
    process.kill(killed, 'SIGKILL')
    await waitForStatus(management, 503)
    expect((await getHealth(management)).status).toBe(200)
    await waitForStatus(management, 404)

    const restarted = databaseServerOf(management)
    expect(restarted).not.toBe(killed)
    await management.stop()
    expect(() => process.kill(restarted, 0)).toThrow('ESRCH')
  }, 300_000)

  it('raises an alarm that names the unreachable server, without the password', async () => {
    const management = await startManagement({
      DATABASE_URL: 'postgres://eyrie:xyzzy@127.0.0.1:9/eyrie',
    })
    const readAlarms = async () =>
      ((await (await getHealth(management)).json()) as HealthReport).alarms ?? []
    await vi.waitUntil(async () => (await readAlarms()).length === 1)
    expect((await readAlarms())[0]).toMatch(/the database cannot be used: .*127\.0\.0\.1:9/)
    expect((await signIn(management)).status).toBe(503)
    expect(management.lines.join('\n')).not.toContain('xyzzy')
  })
})
