import { identityProviderRoutes } from '@eyrie/contract/management/index'
import type { Secrets } from '../../../secrets/secrets.ts'
import { readRedactedProvider, updateProvider } from '../../../users/oidc/provider-settings.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'

/** API operations on the settings of the identity provider, which apply to all organizations. */
export const identityProviderOperations = (secrets: Secrets): Operation[] => [
  defineOperation(identityProviderRoutes.getOidc, async (_, tx) => ({
    value: await readRedactedProvider(tx),
  })),

  defineOperation(identityProviderRoutes.updateOidc, async ({ input }, tx) => {
    await updateProvider(tx, input, secrets)
  }),
]
