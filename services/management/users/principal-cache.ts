import type { Principal } from '../rights/principal.ts'
import type { AccessClaims } from './access-tokens.ts'

/**
 * How long an entry is used. Rights that another process changes take effect after at most this
 * time.
 */
const TTL_MS = 1000
const MAX_ENTRIES = 10_000

/**
 * Caches the principal of each session: the signed-in user with all rights. A burst of requests
 * then loads it only once.
 */
export interface PrincipalCache {
  /**
   * Returns the cached principal or the one that `load` resolves to. Concurrent calls share one
   * load. A load that rejects or resolves to undefined is not cached.
   */
  getOrLoad(
    claims: AccessClaims,
    load: () => Promise<Principal | undefined>,
  ): Promise<Principal | undefined>
  /**
   * Must be called after every change of the database by this process, because any
   * change may affect rights.
   */
  clear(): void
}

interface Entry {
  /** When the load was started. Changes since then may not be included. */
  startedAtMs: number
  principal: Promise<Principal | undefined>
}

export function createPrincipalCache(now: () => Date): PrincipalCache {
  const entries = new Map<string, Entry>()

  /** Whether the load started less than `TTL_MS` ago. False after the clock was set back. */
  function isFresh({ startedAtMs }: Entry): boolean {
    const ageMs = now().getTime() - startedAtMs
    return ageMs >= 0 && ageMs < TTL_MS
  }

  /** Removes an entry unless another one has replaced it. */
  function remove(key: string, entry: Entry) {
    if (entries.get(key) === entry) entries.delete(key)
  }

  return {
    async getOrLoad({ user_id: userId, session_id: sessionId }, load) {
      const key = `${userId} ${sessionId}`
      const cached = entries.get(key)
      if (cached && isFresh(cached)) return cached.principal

      if (entries.size >= MAX_ENTRIES) entries.clear()
      const entry = { startedAtMs: now().getTime(), principal: load() }
      entries.set(key, entry)

      try {
        const principal = await entry.principal
        if (!principal) remove(key, entry)
        return principal
      } catch (error) {
        remove(key, entry)
        throw error
      }
    },
    clear() {
      entries.clear()
    },
  }
}
