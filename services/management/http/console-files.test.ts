import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createErrorHandler, createLog } from '@eyrie/kit'
import { Hono } from 'hono'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serveConsole } from './console-files.ts'

describe('console files', () => {
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'eyrie-console-'))
    mkdirSync(join(folder, 'dist/assets'), { recursive: true })
    writeFileSync(join(folder, 'dist/index.html'), '<title>Eyrie</title>')
    writeFileSync(join(folder, 'dist/assets/index-a1b2.js'), 'export {}')
    writeFileSync(join(folder, 'private'), 'a private file')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const request = (path: string, dist = 'dist') => {
    const app = new Hono()
    app.onError(createErrorHandler(createLog('management', 'error')))
    serveConsole(app, join(folder, dist))
    return app.request(path)
  }

  it.each(['/', '/channels/3'])(
    'responds to %s with the index page, which is revalidated on every request',
    async path => {
      const response = await request(path)
      expect(await response.text()).toBe('<title>Eyrie</title>')
      expect(response.headers.get('cache-control')).toBe('no-cache')
    },
  )

  it('lets browsers cache files with a hash in their name forever', async () => {
    const response = await request('/assets/index-a1b2.js')
    expect(response.headers.get('content-type')).toContain('javascript')
    expect(response.headers.get('cache-control')).toContain('immutable')
  })

  it('responds with 404, not with the index page, to an unknown asset', async () => {
    expect((await request('/assets/index-0000.js')).status).toBe(404)
  })

  it.each(['/../private', '/assets/..%2f..%2fprivate', '/%2e%2e/private'])(
    'serves nothing outside its folder for %s',
    async path => {
      expect(await (await request(path)).text()).not.toContain('a private file')
    },
  )

  it('explains how to build the console if it is not built', async () => {
    const response = await request('/', 'missing')
    expect(response.status).toBe(503)
    expect(await response.text()).toContain('npm run build --workspace console')
  })
})
