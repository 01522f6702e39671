import { allManagementRoutes, managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { apiToken } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { requiredScope } from '../../../rights/access.ts'
import { generateApiToken } from '../../../users/api-tokens.ts'
import { hashSecret } from '../../../users/opaque-token.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'

const { create, delete: remove, list } = managementRoutes.token

export function apiTokenOperations(now: () => Date): Operation[] {
  return [
    defineOperation(create, async ({ input: { name, scopes, expires_at }, caller }, tx) => {
      assertKnownScopes(scopes)
      const expiry = expires_at ? new Date(expires_at) : null
      if (expiry && expiry <= now()) throw fieldError('expires_at', 'must be in the future')
      const token = generateApiToken()
      const [created] = await tx
        .insert(apiToken)
        .values({
          user_id: caller.user_id,
          name,
          scopes,
          secret_hash: hashSecret(token),
          expires_at: expiry,
        })
        .returning()
      return { value: { ...created!, token } }
    }),

    defineOperation(remove, async ({ input: { token_id } }, tx) => {
      await tx.delete(apiToken).where(eq(apiToken.token_id, token_id))
      return undefined
    }),

    defineOperation(list, async ({ caller }, tx) => ({
      value: await tx
        .select()
        .from(apiToken)
        .where(eq(apiToken.user_id, caller.user_id))
        .orderBy(apiToken.created_at),
    })),
  ]
}

function assertKnownScopes(scopes: readonly string[]) {
  const knownScopes = new Set<string>([
    'read',
    'write',
    ...allManagementRoutes.filter(({ requiresSession }) => !requiresSession).map(requiredScope),
  ])
  scopes.forEach((scope, n) => {
    if (!knownScopes.has(scope)) throw fieldError(`scopes.${n}`, `unknown scope ${scope}`)
  })
}
