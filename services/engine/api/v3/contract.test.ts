import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allRoutes, errorBody, type Route, routesC } from '@eyrie/contract'
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
  const routes: Route[] = allRoutes(routesC)

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
})
