import { resolve } from 'node:path'
import type { Egress } from '@eyrie/kit'
import type { Secrets } from '../secrets/secrets.ts'
import { type AccessTokens, createAccessTokens, loadSigningKeys } from './access-tokens.ts'
import { createProviderClient, type ProviderClient } from './oidc/provider-client.ts'
import { createPasswords, type Passwords } from './passwords.ts'
import { createPrincipalCache, type PrincipalCache } from './principal-cache.ts'

export interface UsersOptions {
  /** Folder of the appliance's data. */
  data: string
  secrets: Secrets
  /** Opens the connections to the identity provider. */
  identityEgress: Egress
  now(): Date
}

/** Dependencies of sign-in and authentication that all requests share. */
export interface Users {
  accessTokens: AccessTokens
  passwords: Passwords
  principals: PrincipalCache
  /** Encrypts the secrets of authenticator apps. */
  secrets: Secrets
  provider: ProviderClient
  now(): Date
}

export async function createUsers({
  data,
  secrets,
  identityEgress,
  now,
}: UsersOptions): Promise<Users> {
  const keys = await loadSigningKeys(resolve(data, 'secrets/signing-key.pem'))
  return {
    accessTokens: createAccessTokens(keys, now),
    passwords: await createPasswords(),
    principals: createPrincipalCache(now),
    secrets,
    provider: createProviderClient(identityEgress, now),
    now,
  }
}
