import { allManagementRoutes, tokenRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { firstRow } from '../../../db/rows.ts'
import { apiToken } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { getRequiredScope } from '../../../rights/access.ts'
import { generateApiToken } from '../../../users/api-tokens.ts'
import { hashSecret } from '../../../users/opaque-token.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'

/**
 * API operations on the caller's API tokens. A program calls the API with a token on behalf of a
 * user, and the scopes of the token limit what the program may do. Each operation runs in one
 * transaction, `tx`, with the rights of the caller.
 */
export function apiTokenOperations(now: () => Date): Operation[] {
  return [
    defineOperation(
      tokenRoutes.create,
      async ({ input: { name, scopes, expires_at: expiresAt }, caller }, tx) => {
        assertKnownScopes(scopes)
        const expiry = expiresAt ? new Date(expiresAt) : null
        if (expiry && expiry <= now()) throw fieldError('expires_at', 'must be in the future')

        // Only the hash is stored: this response is the only one that contains the token.
        const token = generateApiToken()
        const created = firstRow(
          await tx
            .insert(apiToken)
            .values({
              user_id: caller.user_id,
              name,
              scopes,
              secret_hash: hashSecret(token),
              expires_at: expiry,
            })
            .returning(),
        )
        return { value: { ...created, token } }
      },
    ),

    defineOperation(tokenRoutes.delete, async ({ input }, tx) => {
      await tx.delete(apiToken).where(eq(apiToken.token_id, input.token_id))
    }),

    defineOperation(tokenRoutes.list, async ({ caller }, tx) => {
      const tokens = await tx
        .select()
        .from(apiToken)
        .where(eq(apiToken.user_id, caller.user_id))
        .orderBy(apiToken.created_at)
      return { value: tokens }
    }),
  ]
}

/** Throws `EyrieError` (`syntax`) for the first scope that no route requires. */
function assertKnownScopes(scopes: readonly string[]): void {
  // A route that requires a session cannot be called with a token.
  const callableRoutes = allManagementRoutes.filter(({ requiresSession }) => !requiresSession)
  const knownScopes = new Set<string>(['read', 'write', ...callableRoutes.map(getRequiredScope)])
  for (const [index, scope] of scopes.entries()) {
    if (!knownScopes.has(scope)) throw fieldError(`scopes.${index}`, `unknown scope ${scope}`)
  }
}
