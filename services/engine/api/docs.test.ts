import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startEngine } from '../../../test/fixtures/engine/engine.ts'

test('the documentation page contains all revisions and loads nothing from other hosts', async () => {
  const data = await mkdtemp(join(tmpdir(), 'eyrie-api-'))
  const { engine } = await startEngine(data)
  const page = await (await engine.app.request('/docs')).text()
  for (const revision of ['v1', 'v2', 'v3']) {
    expect(page).toContain(`/api/${revision}/pipelines/{id}/connect-sources`)
  }
  expect(page).not.toMatch(/<script|src=|https?:\/\/(?!json-schema\.org)/)
  for (const path of ['/docs', '/metrics']) {
    const wrong = await engine.app.request(path, { method: 'POST' })
    expect([wrong.status, wrong.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
  }
  await engine.stop()
  await rm(data, { recursive: true })
})
