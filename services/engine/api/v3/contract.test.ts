import { errorBody, listRoutes, type Route, routesV3 } from '@eyrie/contract'
import { describe, expect, test } from 'vitest'
import { sharedStatefulEngine } from '../../../../test/fixtures/engine/shared-engine.ts'

const call = sharedStatefulEngine()

describe('contract', () => {
  const routes: Route[] = listRoutes(routesV3)

  test.each(
    routes
      .filter(
        ({ method, params, errors }) =>
          method === 'get' && !params && !errors.includes('unavailable'),
      )
      .map(route => [route.path, route] as const),
  )('describes what GET %s answers', async (path, route) => {
    const answer = await call('GET', path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('ETag')).toMatch(/^".+"$/)
    expect(route.response?.safeParse(answer.body).error).toBeUndefined()
  })

  test('describes all errors', async () => {
    for (const path of ['/sources/4711', '/nothing', '/catalog?filter=x']) {
      expect(errorBody.safeParse((await call('GET', path)).body).error).toBeUndefined()
    }
  })
})
