import { EyrieError } from '@eyrie/contract'
import { isKnownToken } from '@eyrie/kit'
import { and, eq, gt, inArray, isNull, or, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { firstRow } from '../../db/rows.ts'
import { engine, engineSite, joinToken, site } from '../../db/schema/index.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { hashSecret } from '../../users/opaque-token.ts'
import { DEFAULT_SETTINGS, type EngineConnection, updateConnection } from './engine-connection.ts'

/**
 * An engine that registers itself. `engine_address` is the address of its request, or empty if its
 * connection has ended.
 */
export interface JoiningEngine extends EngineConnection {
  join_token: string
  /** A secret of the engine, by which it is recognized. */
  engine_identity: string
  engine_name: string
}

export interface JoinOptions {
  secrets: Secrets
  /** The token in the environment of this service. Undefined: only stored tokens are accepted. */
  configuredToken: string | undefined
}

/**
 * Registers an engine with a join token, or updates the address of an engine that is already
 * registered. Returns the id of the engine. Throws `EyrieError`: `auth` for an unknown engine
 * without a valid token, `unavailable` if its connection has ended.
 */
export async function joinEngine(
  tx: Transaction,
  { join_token: token, engine_identity: identity, engine_name: name, ...connection }: JoiningEngine,
  { secrets, configuredToken }: JoinOptions,
): Promise<string> {
  // The identity is secret: a join token alone is not enough to take the place of a registered
  // engine.
  const identityHash = hashSecret(identity)
  const [known] = await tx
    .select()
    .from(engine)
    .where(eq(engine.identity_hash, identityHash))
    .for('update')
  if (known) {
    assertConnected(connection)
    // The name remains unchanged, because people may have chosen it.
    await updateConnection(tx, secrets, known, connection)
    return known.engine_id
  }

  const isConfigured = configuredToken !== undefined && isKnownToken(token, [configuredToken])
  const siteIds = isConfigured ? [] : await consumeToken(tx, token)
  assertConnected(connection)
  const sites = await tx.select().from(site).where(inArray(site.site_id, siteIds))
  const created = await tx
    .insert(engine)
    .values({
      ...DEFAULT_SETTINGS,
      ...connection,
      engine_name: name,
      engine_key: secrets.encrypt(connection.engine_key),
      identity_hash: identityHash,
      // All sites of a token belong to one organization.
      organization_id: sites[0]?.organization_id ?? null,
    })
    .returning()
  const { engine_id: engineId } = firstRow(created)
  if (sites.length > 0) {
    await tx
      .insert(engineSite)
      .values(sites.map(({ site_id }) => ({ engine_id: engineId, site_id })))
  }
  return engineId
}

function assertConnected({ engine_address: address }: EngineConnection): void {
  if (!address) {
    throw new EyrieError('unavailable', 'the connection of the engine has ended: join again')
  }
}

/**
 * Marks a stored token as used and returns its sites. Throws `EyrieError` (`auth`) if the token is
 * unknown or has expired.
 */
async function consumeToken(tx: Transaction, token: string): Promise<string[]> {
  const notExpired = or(isNull(joinToken.expires_at), gt(joinToken.expires_at, sql`now()`))
  const [row] = await tx
    .update(joinToken)
    .set({ used_at: sql`now()` })
    .where(and(eq(joinToken.secret_hash, hashSecret(token)), notExpired))
    .returning()
  if (row) return row.site_ids
  throw new EyrieError(
    'auth',
    'the join token is unknown or has expired: create another one with ' +
      'POST /api/v1/engine/create-join-token, and set it as EYRIE_JOIN_TOKEN of the engine',
  )
}
