import { managementRoutes } from '@eyrie/contract/management/index'
import { getRequestClient } from '@eyrie/kit'
import { asc, eq, inArray } from 'drizzle-orm'
import { joinToken, site } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { type JoinOptions, joinEngine } from '../../../fleet/registry/joined-engines.ts'
import { generateSecret, hashSecret } from '../../../users/opaque-token.ts'
import { defineMultiStepOperation, defineOperation, type Operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const routes = managementRoutes.engine
/** The prefix lets secret scanners recognize leaked tokens. */
const TOKEN_PREFIX = 'eyrie_jt_'

/** API operations by which engines register themselves, and on the tokens that allow it. */
export const joinOperations = (options: JoinOptions): Operation[] => [
  defineMultiStepOperation(routes.join, async ({ input, context }, database) => {
    const { address } = getRequestClient(context)
    // The engine does not choose the address that management connects to.
    const engine_id = await database.system(routes.join.path, tx =>
      joinEngine(tx, { ...input, engine_address: address }, options),
    )
    return { value: { engine_id } }
  }),

  defineOperation(routes.createJoinToken, async ({ input: { name, site_ids = [], expires_at } }, tx) => {
    const sites = await tx
      .selectDistinct({ organization_id: site.organization_id })
      .from(site)
      .where(inArray(site.site_id, site_ids))
    if (sites.length > 1)
      throw fieldError('site_ids', 'choose sites of one organization, which will own the engines')
    const expiry = expires_at ? new Date(expires_at) : null
    if (expiry && expiry <= new Date()) throw fieldError('expires_at', 'must be in the future')

    // Only the hash is stored: this response is the only one that contains the token.
    const join_token = TOKEN_PREFIX + generateSecret()
    const values = { name, site_ids, secret_hash: hashSecret(join_token), expires_at: expiry }
    const [created] = await tx.insert(joinToken).values(values).returning()
    return { value: { ...created!, join_token } }
  }),

  defineOperation(routes.listJoinTokens, async (_, tx) => ({
    value: await tx.select().from(joinToken).orderBy(asc(joinToken.created_at)),
  })),

  defineOperation(routes.deleteJoinToken, async ({ input: { join_token_id } }, tx) => {
    assertChanged(await tx.delete(joinToken).where(eq(joinToken.join_token_id, join_token_id)).returning())
    return undefined
  }),
]
