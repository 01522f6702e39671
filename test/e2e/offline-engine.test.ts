// @module-tag long

import { setTimeout as wait } from 'node:timers/promises'
import { managementHealth } from '@eyrie/contract'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openBrowser } from '../fixtures/browser/browser.ts'
import { openConsole } from '../fixtures/browser/local-session.ts'
import { findFreePort } from '../fixtures/network/free-ports.ts'
import { runEyrieCommand } from '../fixtures/processes/command-line.ts'
import { startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { startService } from '../fixtures/processes/service-process.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

const LONG = process.env.EYRIE_LONG === '1'
/** Time for which the engine is stopped in the long form. */
const STOPPED_MS = 85_000
/** Maximum time until the return is noticed, including the start of the connection. */
const MAX_NOTICE_MS = 15_000
const WAIT = { timeout: 60_000 }

it('an offline engine is named by health, command line and page, and followed again when it returns', {
  timeout: 300_000,
}, async () => {
  const data = createTemporaryFolder()
  const port = await findFreePort()
  const startEngine = () =>
    startEngineProcess({ data: `${data}/engine`, variables: { EYRIE_ENGINE_PORT: String(port) } })
  const engine = await startEngine()
  const management = await startService('management', {
    EYRIE_DATA: `${data}/management`,
    EYRIE_MANAGEMENT_PORT: '0',
    EYRIE_ENGINE_URL: engine.url,
  })
  onTestFinished(() => management.stop())
  const readHealth = async () =>
    managementHealth.parse(await (await fetch(`${management.url}/health`)).json())
  const countConnections = () =>
    management.lines.filter(line => JSON.parse(line).msg === 'engine connected').length
  await vi.waitUntil(() => countConnections() === 1, WAIT)

  const browser = await openBrowser()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await openConsole(page, { consoleUrl: management.url, data: `${data}/management` })

  await engine.kill()
  const alarm = await vi.waitFor(async () => {
    const { ok, engines, alarms } = await readHealth()
    expect(ok).toBe(true)
    expect(engines).toMatchObject([{ engine_name: 'local', status: 'offline' }])
    expect(alarms).toEqual([
      expect.stringMatching(
        /^engine local has been offline since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC: /,
      ),
    ])
    return alarms.join()
  }, WAIT)
  const { out } = await runEyrieCommand(['status'], {
    data,
    environment: { EYRIE_ENGINE_URL: engine.url, EYRIE_MANAGEMENT_URL: management.url },
  })
  expect(out).toContain(`management: ${alarm}`)
  const shown = page.getByRole('list', { name: 'Alarms' })
  await shown.getByText('engine local has been offline').waitFor(WAIT)

  if (LONG) await wait(STOPPED_MS)
  const restarted = await startEngine()
  onTestFinished(() => restarted.kill())
  const startedMs = performance.now()
  await vi.waitUntil(() => countConnections() === 2, WAIT)
  if (LONG) expect(performance.now() - startedMs).toBeLessThan(MAX_NOTICE_MS)
  await vi.waitFor(
    async () => expect(await readHealth()).toMatchObject({ alarms: [], engines: [] }),
    WAIT,
  )
  await shown.waitFor({ ...WAIT, state: 'detached' })
})
