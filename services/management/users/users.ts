import { resolve } from 'node:path'
import { type AccessTokens, createAccessTokens, loadSigningKeys } from './access-tokens.ts'
import { createPasswords, type Passwords } from './passwords.ts'
import { createPrincipalCache, type PrincipalCache } from './principal-cache.ts'

export interface UsersOptions {
  /** Folder of the appliance's data. */
  data: string
  now(): Date
}

/** Dependencies of sign-in and authentication that all requests share. */
export interface Users {
  accessTokens: AccessTokens
  passwords: Passwords
  principals: PrincipalCache
  now(): Date
}

export async function createUsers({ data, now }: UsersOptions): Promise<Users> {
  const keys = await loadSigningKeys(resolve(data, 'secrets/signing-key.pem'))
  return {
    accessTokens: createAccessTokens(keys, now),
    passwords: await createPasswords(),
    principals: createPrincipalCache(now),
    now,
  }
}
