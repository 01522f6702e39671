import { EyrieError } from '@eyrie/contract'
import type { ManagementRoute } from '@eyrie/contract/management/index'
import { sql } from 'drizzle-orm'
import type { Context } from 'hono'
import type { Database, Transaction } from '../db/open.ts'
import { loadPrincipal } from '../rights/load.ts'
import type { Principal } from '../rights/principal.ts'
import type { AccessTokens } from './access-token.ts'

/** Tells who calls by the request's access token, whose session has to be alive. */
export const identifyBy =
  (tokens: AccessTokens, database: () => Database) =>
  async (context: Context, _route: ManagementRoute): Promise<Principal | undefined> => {
    const bearer = /^Bearer +(\S+)$/i.exec(context.req.header('Authorization') ?? '')?.[1]
    if (!bearer) return undefined
    const { user_id, session_id } = await tokens.verify(bearer)
    const principal = await database().system('identify', async tx =>
      (await isAlive(tx, session_id)) ? loadPrincipal(tx, user_id) : undefined,
    )
    if (!principal) throw new EyrieError('auth', 'this session has ended: sign in again')
    return { ...principal, session_id }
  }

async function isAlive(tx: Transaction, session_id: string): Promise<boolean> {
  const found = await tx.execute(sql`
    select from session where session_id = ${session_id} and revoked_at is null and expires_at > now()`)
  return found.length > 0
}
