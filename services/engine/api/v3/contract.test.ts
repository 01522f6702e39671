import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorBody } from '@eyrie/contract'
import { type Route, routesC } from '@eyrie/contract/routes'
import type { Service } from '@eyrie/kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Call, startEngine } from '../../../../test/fixtures/engine.ts'

let data: string
let engine: Service
let call: Call
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'eyrie-api-'))
  const started = await startEngine(data)
  engine = started.engine
  call = started.call
})
afterAll(async () => {
  await engine.stop()
  await rm(data, { recursive: true })
})

describe('the contract', () => {
  const routes = Object.values(routesC).flatMap(entry =>
    'method' in entry ? [entry] : Object.values(entry),
  ) as Route[]

  test.each(
    routes
      .filter(({ method, params }) => method === 'get' && !params)
      .map(route => [route.path, route] as const),
  )('describes what GET %s answers', async (path, route) => {
    const answer = await call('GET', path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('ETag')).toMatch(/^".+"$/)
    expect(route.answer?.safeParse(answer.body).error).toBeUndefined()
  })

  test('describes every error', async () => {
    for (const path of ['/sources/4711', '/nothing', '/catalog?filter=x'])
      expect(errorBody.safeParse((await call('GET', path)).body).error).toBeUndefined()
  })

  test('is published as OpenAPI 3.1 with every operation, and shown without any other host', async () => {
    const document = (await call('GET', '/openapi.json')).body
    expect(document.openapi).toBe('3.1.0')
    for (const { method, path } of routes)
      expect(document.paths[path]?.[method], `${method} ${path}`).toBeDefined()
    const page = await (await engine.app.request('/docs')).text()
    expect(page).toContain('/api/v3/pipelines/{id}/connect-sources')
    expect(page).not.toMatch(/<script|src=|https?:\/\/(?!json-schema\.org)/)
  })
})
