// @module-tag long

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Capabilities, capabilities } from '@eyrie/contract/plugin'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openBrowser } from '../fixtures/browser/browser.ts'
import { writePlugin } from '../fixtures/engine/test-plugin.ts'
import { runEyrieCommand } from '../fixtures/processes/command-line.ts'
import { startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { startPostgres } from '../fixtures/processes/postgres.ts'
import { startService } from '../fixtures/processes/service-process.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

const administrator = { email: 'owner@eyrie.test', password: 'correct = horse battery staple' }
const TIMEOUT = { timeout: 180_000 }

it('the page Plugins shows what the plugins of an engine can use, and which of them do not run', {
  timeout: 600_000,
}, async () => {
  const folder = createTemporaryFolder()
  const data = join(folder, 'engine')
  mkdirSync(join(data, 'plugins'), { recursive: true })
  const crash = {
    plugin: 'crowd',
    version: '1.0.0',
    channel: 3,
    reason: 'its process was ended by SIGSEGV',
    time: '2026-05-04T10:12:00.000Z',
  }
  writeFileSync(join(data, 'plugins/quarantine.json'), JSON.stringify([crash]))
  const engine = await startEngineProcess({
    data,
    settings: { engine: { inference_workers: 1, allow_partial_plugin_isolation: true } },
    variables: { EYRIE_ENGINE_TOKENS: 'operator', EYRIE_PLUGIN_TOKENS: 'plugins' },
  })
  onTestFinished(() => engine.kill())
  const runCommand = (...args: string[]) =>
    runEyrieCommand(args, {
      data: folder,
      environment: { EYRIE_ENGINE_URL: engine.url, EYRIE_TOKEN: 'plugins' },
    })
  async function add(version: string, fields: Partial<Capabilities>) {
    writePlugin(folder, {
      name: 'crowd',
      version,
      element: { capabilities: capabilities.parse(fields) },
    })
    expect(await runCommand('plugin', 'add', join(folder, 'crowd'))).toMatchObject({ code: 0 })
  }
  const frames = { format: 'RGB' as const, width: 640, height: 360 }
  await add('1.0.0', { frames, events: { crowd: { count: 'number' } }, budget_ms: 8 })
  await add('1.1.0', {
    frames,
    events: { crowd: { count: 'number' } },
    network: ['api.example.com:443'],
    storage_bytes: 2e6,
    budget_ms: 8,
  })

  // Management has the token of the engine, but none for plugins.
  const postgres = await startPostgres()
  onTestFinished(() => postgres.remove())
  const management = await startService('management', {
    EYRIE_DATA: join(folder, 'management'),
    EYRIE_MANAGEMENT_PORT: '0',
    EYRIE_ENGINE_URL: engine.url,
    EYRIE_ENGINE_TOKENS: 'operator',
    EYRIE_EGRESS_ALLOW: `engine=127.0.0.1:${engine.port}`,
    EYRIE_MEDIA_URL: 'http://127.0.0.1:9',
    EYRIE_ADMIN_EMAIL: administrator.email,
    EYRIE_ADMIN_PASSWORD: administrator.password,
    DATABASE_URL: `postgres://eyrie:plugh@127.0.0.1:${postgres.port}/eyrie`,
  })
  onTestFinished(() => management.stop())
  // The database is prepared at the first start.
  await vi.waitFor(
    async () => {
      const response = await fetch(`${management.url}/api/v1/user/auth`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(administrator),
      })
      expect(response.status).toBe(200)
    },
    { ...TIMEOUT, interval: 200 },
  )

  const browser = await openBrowser()
  onTestFinished(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.goto(management.url)
  await page.getByLabel('E-mail').fill(administrator.email, TIMEOUT)
  await page.getByLabel('Password').fill(administrator.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Plugins' }).click(TIMEOUT)

  await page.getByText(/isolation of uploaded plugins: (full|partial|none)/).waitFor(TIMEOUT)
  await page.getByText(/Built in: .*motion/).waitFor(TIMEOUT)
  const row = (version: string) => page.getByRole('row').filter({ hasText: `crowd ${version}` })
  const first = row('1.0.0')
  await first.getByText('active', { exact: true }).waitFor(TIMEOUT)
  await first.getByText('unsigned').waitFor(TIMEOUT)
  await first.getByText('reads pictures (RGB, up to 640×360)').waitFor(TIMEOUT)
  await first.getByText('in quarantine on channel 3').waitFor(TIMEOUT)
  await first.getByText('its process was ended by SIGSEGV').waitFor(TIMEOUT)
  await first.getByText('eyrie plugin release crowd').waitFor(TIMEOUT)
  const second = row('1.1.0')
  await second.getByText('inactive').waitFor(TIMEOUT)
  await second.getByText('crowd sends requests to api.example.com:443').waitFor(TIMEOUT)
  await second.getByText('crowd stores up to 2.0 MB on each channel').waitFor(TIMEOUT)
  expect(await page.getByRole('button', { name: /release|install|grant/i }).count()).toBe(0)

  // The page follows what the command line changes.
  expect(await runCommand('plugin', 'use', 'crowd', '1.1.0', '--grant')).toMatchObject({ code: 0 })
  await second.getByText('active', { exact: true }).waitFor(TIMEOUT)
  await second
    .getByText('asks for more than was granted')
    .waitFor({ ...TIMEOUT, state: 'detached' })
  expect(await runCommand('plugin', 'release', 'crowd')).toMatchObject({ code: 0 })
  await first.getByText('in quarantine').waitFor({ ...TIMEOUT, state: 'detached' })
  const keys = join(folder, 'acme')
  expect(await runCommand('plugin', 'keygen', keys, '--publisher', 'Acme')).toMatchObject({
    code: 0,
  })
  expect(await runCommand('plugin', 'trust', `${keys}.pub`, '--force')).toMatchObject({ code: 0 })
  await second.getByText('does not start').waitFor(TIMEOUT)

  await engine.kill()
  await page
    .getByRole('region')
    .getByText(/cannot be reached/)
    .waitFor(TIMEOUT)
})
