import { setTimeout as wait } from 'node:timers/promises'
import { EyrieError } from '@eyrie/contract'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'

// A live view may stay open longer than the session or the rights of its client. The access check
// of a request sets a function that checks them again, and the routes of live views and recordings
// repeat it.

/** Time between two checks, within which a change of rights applies to an open view or download. */
const RECHECK_MS = 5_000

/**
 * Throws `EyrieError` (`auth`, `rights`, `id`) if the client may no longer see what it has
 * requested, and another `Error` if this cannot be checked.
 */
export type CheckAccess = () => Promise<void>

type AccessContext = Context<{ Variables: { checkAccess: CheckAccess } }>

export function setAccessCheck(c: Context, checkAccess: CheckAccess): void {
  const context: AccessContext = c
  context.set('checkAccess', checkAccess)
}

/** Returns undefined for a request that the access check of live views has not admitted. */
export function getAccessCheck(c: Context): CheckAccess | undefined {
  const context: AccessContext = c
  return context.get('checkAccess')
}

/** Resolves when the next check is due. */
export const waitForRecheck = (): Promise<void> => wait(RECHECK_MS, undefined, { ref: false })

/**
 * Returns why access has ended; undefined while it lasts. If it cannot be checked, because the
 * database is unreachable, it lasts: no one can withdraw it meanwhile.
 */
export async function findDenial(checkAccess: CheckAccess): Promise<string | undefined> {
  try {
    await checkAccess()
    return undefined
  } catch (error) {
    const isDenial = error instanceof EyrieError && /^(auth|rights|id)$/.test(error.code)
    return isDenial ? error.message : undefined
  }
}

/**
 * Breaks off the response to a request when access ends, so that the client cannot mistake its part
 * of a recording for the whole. Resolves when the response has ended.
 */
export async function breakOffWithoutAccess(c: Context, checkAccess: CheckAccess): Promise<void> {
  // `env` is undefined without a server.
  const { outgoing } = (c.env ?? {}) as Partial<HttpBindings>
  for (;;) {
    await waitForRecheck()
    if (!outgoing || outgoing.closed) return
    if (await findDenial(checkAccess)) outgoing.destroy()
  }
}
