import { allManagementRoutes, managementRoutes } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { apiToken } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { scopeOf } from '../../../rights/access.ts'
import { newApiToken } from '../../../users/api-tokens.ts'
import { digestOf } from '../../../users/opaque-token.ts'
import { type Operation, operation } from '../../api/operation.ts'

const { create, delete: remove, list } = managementRoutes.token

export function tokenOperations(now: () => Date): Operation[] {
  return [
    operation(create, async ({ input: { name, scopes, expires_at }, caller }, tx) => {
      requireKnown(scopes)
      const expires = expires_at ? new Date(expires_at) : null
      if (expires && expires <= now()) throw fieldError('expires_at', 'lies in the past')
      const token = newApiToken()
      const [made] = await tx
        .insert(apiToken)
        .values({ user_id: caller.user_id, name, scopes, secret_hash: digestOf(token), expires_at: expires })
        .returning()
      return { value: { ...made!, token } }
    }),

    operation(remove, async ({ input: { token_id } }, tx) => {
      await tx.delete(apiToken).where(eq(apiToken.token_id, token_id))
      return undefined
    }),

    operation(list, async ({ caller }, tx) => ({
      value: await tx
        .select()
        .from(apiToken)
        .where(eq(apiToken.user_id, caller.user_id))
        .orderBy(apiToken.created_at),
    })),
  ]
}

function requireKnown(scopes: readonly string[]) {
  const known = new Set([
    'read',
    'write',
    ...allManagementRoutes.filter(({ requiresSession }) => !requiresSession).map(scopeOf),
  ])
  scopes.forEach((scope, n) => {
    if (!known.has(scope)) throw fieldError(`scopes.${n}`, `nothing is reached by ${scope}`)
  })
}
