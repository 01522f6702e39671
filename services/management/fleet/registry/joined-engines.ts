import { EyrieError } from '@eyrie/contract'
import { isKnownToken } from '@eyrie/kit'
import { and, eq, gt, inArray, isNull, or, sql } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { engine, engineSite, joinToken, site } from '../../db/schema/index.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { hashSecret } from '../../users/opaque-token.ts'

/** An engine that registers itself. */
export interface JoiningEngine {
  join_token: string
  /** A secret of the engine, by which it is recognized. */
  engine_identity: string
  engine_name: string
  /** The address from which the engine has sent its request. Empty if the connection has ended. */
  engine_address: string
  engine_port: number
  engine_is_secure: boolean
  /** The token that the engine requires. */
  engine_key: string
}

export interface JoinOptions {
  secrets: Secrets
  /** The token in the environment of this service. Undefined: only stored tokens are accepted. */
  configuredToken: string | undefined
}

/**
 * Registers an engine with a join token, or updates the address of an engine that is already registered. Returns the id of the
 * engine. Throws `EyrieError`: `auth` for an unknown engine without a valid token, `unavailable` if its connection has ended.
 */
export async function joinEngine(
  tx: Transaction,
  { join_token: joinToken, engine_identity: engineIdentity, ...fields }: JoiningEngine,
  { secrets, configuredToken }: JoinOptions,
): Promise<string> {
  // The identity is secret: a join token alone is not enough to take the place of a registered engine.
  const identityHash = hashSecret(engineIdentity)
  const [known] = await tx.select().from(engine).where(eq(engine.identity_hash, identityHash)).for('update')
  if (known) {
    assertConnected(fields)
    await updateAddress(tx, secrets, known, fields)
    return known.engine_id
  }

  const isConfigured = configuredToken !== undefined && isKnownToken(joinToken, [configuredToken])
  const siteIds = isConfigured ? [] : await consumeToken(tx, joinToken)
  assertConnected(fields)
  const sites = await tx.select().from(site).where(inArray(site.site_id, siteIds))
  const [created] = await tx
    .insert(engine)
    .values({
      ...fields,
      identity_hash: identityHash,
      organization_id: sites[0]?.organization_id ?? null,
      engine_key: secrets.encrypt(fields.engine_key),
      engine_timeout: '5s',
      engine_retry: { disable_backoff: false, times: 0, wait_base: 1000 },
    })
    .returning()
  const { engine_id: engineId } = created!
  if (sites.length > 0)
    await tx.insert(engineSite).values(sites.map(({ site_id }) => ({ engine_id: engineId, site_id })))
  return engineId
}

function assertConnected({ engine_address: engineAddress }: Pick<JoiningEngine, 'engine_address'>): void {
  if (!engineAddress)
    throw new EyrieError('unavailable', 'the connection of the engine has ended: join again')
}

/** Updates the address and the key of a registered engine. Its name remains unchanged, because people may have chosen it. */
async function updateAddress(
  tx: Transaction,
  secrets: Secrets,
  known: typeof engine.$inferSelect,
  {
    engine_address: engineAddress,
    engine_port: enginePort,
    engine_is_secure: engineIsSecure,
    engine_key: engineKey,
  }: Omit<JoiningEngine, 'join_token' | 'engine_identity'>,
): Promise<void> {
  const isUnchanged =
    known.engine_address === engineAddress &&
    known.engine_port === enginePort &&
    known.engine_is_secure === engineIsSecure &&
    secrets.decrypt(known.engine_key) === engineKey
  if (isUnchanged) return
  await tx
    .update(engine)
    .set({
      engine_address: engineAddress,
      engine_port: enginePort,
      engine_is_secure: engineIsSecure,
      engine_key: secrets.encrypt(engineKey),
      engine_updated_at: new Date(),
    })
    .where(eq(engine.engine_id, known.engine_id))
}

/** Marks a stored token as used and returns its sites. Throws `EyrieError` (`auth`) if the token is unknown or has expired. */
async function consumeToken(tx: Transaction, token: string): Promise<string[]> {
  const isUnexpired = or(isNull(joinToken.expires_at), gt(joinToken.expires_at, sql`now()`))
  const [row] = await tx
    .update(joinToken)
    .set({ used_at: sql`now()` })
    .where(and(eq(joinToken.secret_hash, hashSecret(token)), isUnexpired))
    .returning()
  if (row) return row.site_ids
  throw new EyrieError(
    'auth',
    'the join token is unknown or has expired: create another one with POST /api/v1/engine/create-join-token, and set it as EYRIE_JOIN_TOKEN of the engine',
  )
}
