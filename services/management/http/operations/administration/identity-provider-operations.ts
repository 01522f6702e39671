import { identityProviderRoutes } from '@eyrie/contract/management/index'
import type { Secrets } from '../../../secrets/secrets.ts'
import {
  readProviderEtag,
  readRedactedProvider,
  updateProvider,
} from '../../../users/oidc/provider-settings.ts'
import { defineOperation, type Operation } from '../../api/operation.ts'

/** API operations on the settings of the identity provider, which apply to all organizations. */
export const identityProviderOperations = (secrets: Secrets): Operation[] => [
  defineOperation(identityProviderRoutes.getOidc, async (_, tx) => {
    // First the tag: if the settings change in between, it must be the older of the two.
    const etag = await readProviderEtag(tx)
    return { value: await readRedactedProvider(tx), etag }
  }),

  defineOperation(identityProviderRoutes.updateOidc, async ({ input, context }, tx) => {
    const ifMatch = context.req.header('If-Match')
    await updateProvider(tx, input, { secrets, ifMatch })
    return { etag: await readProviderEtag(tx) }
  }),
]
