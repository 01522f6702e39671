import { once } from 'node:events'
import { listen } from '@eyrie/kit'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { allRevisions } from '../../../../test/fixtures/engine/conformance.ts'
import { startEngine } from '../../../../test/fixtures/engine/engine.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'

/** Authentication: all revisions require a token, but health and the documentation do not. */

async function served(variables: NodeJS.ProcessEnv = {}) {
  const tokens = { EYRIE_ENGINE_TOKENS: 'first,second' }
  const { engine } = await startEngine(createTemporaryFolder(), { ...tokens, ...variables })
  onTestFinished(() => engine.stop())
  const server = await listen(engine, '127.0.0.1', 0)
  onTestFinished(() => server.close())
  return `127.0.0.1:${server.port}`
}

test('all revisions require a valid token and answer 401 `auth` without one', async () => {
  const host = await served()
  for (const revision of allRevisions) {
    const ask = async (headers: Record<string, string>) => {
      const response = await fetch(`http://${host}/api/${revision}/configuration`, { headers })
      return [response.status, ((await response.json()) as { code?: string }).code]
    }
    expect(await ask({})).toEqual([401, 'auth'])
    expect(await ask({ Authorization: 'Bearer third' })).toEqual([401, 'auth'])
    for (const token of ['first', 'second']) {
      expect(await ask({ Authorization: `Bearer ${token}` })).toEqual([200, undefined])
    }
  }
})

test('the internal token of the services is not accepted', async () => {
  const host = await served({ EYRIE_INTERNAL_TOKEN: 'internal' })
  const headers = { Authorization: 'Bearer internal' }
  for (const revision of allRevisions) {
    expect((await fetch(`http://${host}/api/${revision}/configuration`, { headers })).status).toBe(
      401,
    )
  }
})

test('only tokens for plugins change plugins if there are any', async () => {
  const host = await served({ EYRIE_PLUGIN_TOKENS: 'plugins' })
  const requests = [
    ['POST', '/plugins', 'application/gzip', ''],
    ['POST', '/plugins/inspection', 'application/gzip', ''],
    ['PUT', '/plugins/motion', 'application/json', '{"version":"9.9.9"}'],
    ['PUT', '/plugins/motion/shadow', 'application/json', '{"version":"9.9.9"}'],
    ['POST', '/plugins/motion/shadow/acceptance', 'application/json', '{}'],
    ['DELETE', '/plugins/motion/shadow', undefined, undefined],
    ['DELETE', '/plugins/motion/9.9.9', undefined, undefined],
    ['DELETE', '/plugins/nothing/quarantine', undefined, undefined],
    ['PUT', `/plugin-trust/publishers/${'a'.repeat(64)}`, 'application/json', '{"name":""}'],
    ['DELETE', `/plugin-trust/publishers/${'a'.repeat(64)}`, undefined, undefined],
    ['PUT', '/plugin-trust/exceptions/UPPER', undefined, undefined],
    ['DELETE', '/plugin-trust/exceptions/motion', undefined, undefined],
  ] as const
  for (const [method, path, type, body] of requests) {
    const ask = async (token: string) => {
      const headers = { Authorization: `Bearer ${token}`, ...(type && { 'Content-Type': type }) }
      const response = await fetch(`http://${host}/api/v3${path}`, { method, headers, body })
      return ((await response.json()) as { code: string }).code
    }
    expect(await ask('first')).toBe('rights')
    expect(['syntax', 'id']).toContain(await ask('plugins'))
  }
  const list = (token: string) =>
    fetch(`http://${host}/api/v3/plugins`, { headers: { Authorization: `Bearer ${token}` } })
  expect((await list('first')).status).toBe(200)
  expect((await list('plugins')).status).toBe(200)
})

test('the tokens of the engine change plugins if there are none for plugins', async () => {
  const host = await served()
  const headers = { Authorization: 'Bearer first' }
  const response = await fetch(`http://${host}/api/v3/plugins/motion/9.9.9`, {
    method: 'DELETE',
    headers,
  })
  expect(response.status).toBe(404)
})

test('only a WebSocket may send its token in the query', async () => {
  const host = await served()
  for (const revision of allRevisions) {
    const path = `/api/${revision}/output?access_token=first`
    expect((await fetch(`http://${host}${path}`)).status).toBe(401)
    const socket = new WebSocket(`ws://${host}${path}`)
    const [first] = await once(socket, 'message')
    expect(JSON.parse(String(first))).toMatchObject({ kind: 'hello', oldest: expect.any(Number) })
    socket.terminate()
    const stranger = new WebSocket(`ws://${host}/api/${revision}/output?access_token=third`)
    stranger.on('error', () => {})
    const [, response] = await once(stranger, 'unexpected-response')
    expect(response.statusCode).toBe(401)
  }
})

test('health, the OpenAPI documents and the documentation page require no token', async () => {
  const host = await served()
  for (const path of [
    '/health',
    '/docs',
    ...allRevisions.map(revision => `/api/${revision}/openapi.json`),
  ]) {
    expect([path, (await fetch(`http://${host}${path}`)).status]).not.toEqual([path, 401])
  }
  expect((await fetch(`http://${host}/metrics`)).status).toBe(401)
})
