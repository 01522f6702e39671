import type { Principal } from '../rights/principal.ts'
import type { AccessClaims } from './access-tokens.ts'

/** Within this, a change that came by no operation of this process may go unseen. */
const LASTS_MS = 1000
const MOST = 10_000

/** Who calls in each session, so that one who asks for much at once is not looked up for each request. */
export interface PrincipalCache {
  /** `look` is asked where nothing is known; a refusal is not remembered. */
  find(claims: AccessClaims, look: () => Promise<Principal | undefined>): Promise<Principal | undefined>
  /** To be called after every change, which may have been one of rights. */
  clear(): void
}

export function createPrincipalCache(now: () => Date): PrincipalCache {
  const known = new Map<string, { principal: Principal; until: number }>()
  let changes = 0

  return {
    async find({ user_id, session_id }, look) {
      const time = now().getTime()
      const key = `${user_id} ${session_id}`
      const remembered = known.get(key)
      if (remembered && time < remembered.until && time >= remembered.until - LASTS_MS)
        return remembered.principal
      known.delete(key)
      const before = changes
      const principal = await look()
      // What was looked up while something changed may be how it was before.
      if (principal && changes === before) {
        if (known.size >= MOST) known.clear()
        known.set(key, { principal, until: time + LASTS_MS })
      }
      return principal
    },
    clear() {
      changes += 1
      known.clear()
    },
  }
}
