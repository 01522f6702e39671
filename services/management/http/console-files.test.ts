import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answerErrors, createLog } from '@eyrie/kit'
import { Hono } from 'hono'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serveConsole } from './console-files.ts'

describe('serveConsole', () => {
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'eyrie-console-'))
    mkdirSync(join(folder, 'dist/assets'), { recursive: true })
    writeFileSync(join(folder, 'dist/index.html'), '<title>Eyrie</title>')
    writeFileSync(join(folder, 'dist/assets/index-a1b2.js'), 'export {}')
    writeFileSync(join(folder, 'private'), 'private content')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const ask = (path: string, dist = 'dist') => {
    const app = new Hono()
    app.onError(answerErrors(createLog('management', 'error')))
    serveConsole(app, join(folder, dist))
    return app.request(path)
  }

  it.each(['/', '/channels/3'])('answers %s with the page and Cache-Control: no-cache', async path => {
    const response = await ask(path)
    expect(await response.text()).toBe('<title>Eyrie</title>')
    expect(response.headers.get('cache-control')).toBe('no-cache')
  })

  it('marks files with a hash in their name as immutable', async () => {
    const response = await ask('/assets/index-a1b2.js')
    expect(response.headers.get('content-type')).toContain('javascript')
    expect(response.headers.get('cache-control')).toContain('immutable')
  })

  it('answers 404 for a missing asset', async () => {
    expect((await ask('/assets/index-0000.js')).status).toBe(404)
  })

  it.each(['/../private', '/assets/..%2f..%2fprivate', '/%2e%2e/private'])(
    'does not serve files outside of the folder for %s',
    async path => {
      expect(await (await ask(path)).text()).not.toContain('private content')
    },
  )

  it('explains how to build the console when it is not built', async () => {
    const response = await ask('/', 'missing')
    expect(response.status).toBe(503)
    expect(await response.text()).toContain('npm run build --workspace services/management/console')
  })
})
