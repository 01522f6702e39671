import { describe, expect, it, vi } from 'vitest'
import type { Principal } from '../rights/principal.ts'
import { createPrincipalCache } from './principal-cache.ts'

const principal = { user_id: 'u', actor: 'a@eyrie.test', role: 'viewer' } as Principal
const session = { user_id: 'u', session_id: 's' }
const START = Date.UTC(2026, 0, 1)

function createCacheWithClock() {
  let time = START
  const cache = createPrincipalCache(() => new Date(time))
  return {
    cache,
    advance: (ms: number) => {
      time += ms
    },
  }
}

describe('principal cache', () => {
  it('loads a principal again only after one second', async () => {
    const { cache, advance } = createCacheWithClock()
    const load = vi.fn(async () => principal)
    await cache.getOrLoad(session, load)
    advance(999)
    expect(await cache.getOrLoad(session, load)).toBe(principal)
    expect(load).toHaveBeenCalledTimes(1)
    advance(1)
    await cache.getOrLoad(session, load)
    expect(load).toHaveBeenCalledTimes(2)
  })

  it('loads every principal again after it was cleared', async () => {
    const { cache } = createCacheWithClock()
    await cache.getOrLoad(session, async () => principal)
    cache.clear()
    expect(await cache.getOrLoad(session, async () => undefined)).toBeUndefined()
  })

  it('does not cache a principal when it is cleared during the load', async () => {
    const { cache } = createCacheWithClock()
    const loading = Promise.withResolvers<Principal>()
    const pending = cache.getOrLoad(session, () => loading.promise)
    cache.clear()
    loading.resolve(principal)
    await pending
    expect(await cache.getOrLoad(session, async () => undefined)).toBeUndefined()
  })

  it('loads a principal once for concurrent requests', async () => {
    const { cache } = createCacheWithClock()
    const loading = Promise.withResolvers<Principal>()
    const load = vi.fn(() => loading.promise)
    const pending = [cache.getOrLoad(session, load), cache.getOrLoad(session, load)]
    loading.resolve(principal)
    expect(await Promise.all(pending)).toEqual([principal, principal])
    expect(load).toHaveBeenCalledTimes(1)
  })

  it('does not share a load that started more than a second ago', async () => {
    const { cache, advance } = createCacheWithClock()
    const stalled = Promise.withResolvers<undefined>()
    const pending = cache.getOrLoad(session, () => stalled.promise)
    advance(1000)
    expect(await cache.getOrLoad(session, async () => principal)).toBe(principal)
    stalled.resolve(undefined)
    expect(await pending).toBeUndefined()
    expect(await cache.getOrLoad(session, async () => undefined)).toBe(principal)
  })

  it('does not cache an unknown session', async () => {
    const { cache } = createCacheWithClock()
    await cache.getOrLoad(session, async () => undefined)
    expect(await cache.getOrLoad(session, async () => principal)).toBe(principal)
  })

  it('does not cache a failed load', async () => {
    const { cache } = createCacheWithClock()
    await expect(
      cache.getOrLoad(session, () => Promise.reject(new Error('unreachable'))),
    ).rejects.toThrow()
    expect(await cache.getOrLoad(session, async () => principal)).toBe(principal)
  })

  it('does not return the principal of another user for the same session', async () => {
    const { cache } = createCacheWithClock()
    await cache.getOrLoad(session, async () => principal)
    expect(
      await cache.getOrLoad({ ...session, user_id: 'v' }, async () => undefined),
    ).toBeUndefined()
  })
})
