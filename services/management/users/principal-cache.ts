import type { Principal } from '../rights/principal.ts'
import type { AccessClaims } from './access-tokens.ts'

/** Changes made by another process take effect after at most this time. */
const TTL_MS = 1000
const MAX_ENTRIES = 10_000

/** Caches the principal of each session, so that a burst of requests loads it once. */
export interface PrincipalCache {
  /** Returns the cached principal or the one that `load` resolves to. An undefined result is not cached. */
  getOrLoad(claims: AccessClaims, load: () => Promise<Principal | undefined>): Promise<Principal | undefined>
  /** Must be called after every change, because any change may affect rights. */
  clear(): void
}

export function createPrincipalCache(now: () => Date): PrincipalCache {
  const entries = new Map<string, { principal: Principal; loadedAtMs: number }>()
  /** Number of calls of `clear`. */
  let generation = 0

  return {
    async getOrLoad({ user_id, session_id }, load) {
      const startedAtMs = now().getTime()
      const key = `${user_id} ${session_id}`
      const cached = entries.get(key)
      // The age is negative after the clock was set back.
      const ageMs = cached ? startedAtMs - cached.loadedAtMs : Number.POSITIVE_INFINITY
      if (cached && ageMs >= 0 && ageMs < TTL_MS) return cached.principal
      entries.delete(key)

      const startGeneration = generation
      const principal = await load()
      // A change during the load may have made the result stale.
      if (principal && generation === startGeneration) {
        if (entries.size >= MAX_ENTRIES) entries.clear()
        entries.set(key, { principal, loadedAtMs: startedAtMs })
      }
      return principal
    },
    clear() {
      generation += 1
      entries.clear()
    },
  }
}
