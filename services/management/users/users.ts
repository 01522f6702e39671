import { resolve } from 'node:path'
import type { Database } from '../db/open.ts'
import type { Operation } from '../http/api/operation.ts'
import { type Identify, createIdentify } from '../http/auth/identify-caller.ts'
import { tokenOperations } from '../http/operations/accounts/api-token-operations.ts'
import { roleOperations } from '../http/operations/accounts/role-operations.ts'
import { sessionOperations } from '../http/operations/accounts/session-operations.ts'
import { signInOperations } from '../http/operations/accounts/sign-in-operations.ts'
import { userConfigOperations } from '../http/operations/accounts/user-config-operations.ts'
import { userOperations } from '../http/operations/accounts/user-operations.ts'
import { auditOperations } from '../http/operations/administration/audit-operations.ts'
import { createAccessTokens, readSigningKeys } from './access-tokens.ts'
import { createPasswords, type Passwords } from './passwords.ts'
import { createPrincipalCache } from './principal-cache.ts'

export interface UsersOptions {
  /** Throws EyrieError `unavailable` while it is not there. */
  database(): Database
  /** Folder of the appliance's data. */
  data: string
  now(): Date
}

/** Who may do what: sign-in, users, roles, tokens, and what they did. */
export interface Users {
  operations: Operation[]
  identify: Identify
  /** To be called after every change, which may have been one of rights. */
  forget(): void
  passwords: Passwords
  now(): Date
}

export async function createUsers({ database, data, now }: UsersOptions): Promise<Users> {
  const accessTokens = createAccessTokens(
    await readSigningKeys(resolve(data, 'secrets/signing-key.pem')),
    now,
  )
  const passwords = await createPasswords()
  const operations = [
    ...signInOperations({ accessTokens, passwords, now }),
    ...userOperations({ passwords, now }),
    ...userConfigOperations,
    ...sessionOperations(now),
    ...roleOperations,
    ...tokenOperations(now),
    ...auditOperations(now),
  ]
  const callers = createPrincipalCache(now)
  const identify = createIdentify(accessTokens, database, now, callers)
  return { operations, identify, forget: callers.forget, passwords, now }
}
