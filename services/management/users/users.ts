import { resolve } from 'node:path'
import type { Operation } from '../api/operation.ts'
import type { Database } from '../db/database.ts'
import { auditOperations } from '../operations/audit.ts'
import { roleOperations } from '../operations/role.ts'
import { sessionOperations } from '../operations/session.ts'
import { signInOperations } from '../operations/sign-in.ts'
import { tokenOperations } from '../operations/token.ts'
import { userOperations } from '../operations/user.ts'
import { userConfigOperations } from '../operations/user-config.ts'
import { createAccessTokens } from './access-token.ts'
import { type Identify, identifyBy } from './identify.ts'
import { createPasswords, type Passwords } from './passwords.ts'
import { rememberCallers } from './remembered.ts'
import { readSigningKeys } from './signing-keys.ts'

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
  const callers = rememberCallers(now)
  const identify = identifyBy(accessTokens, database, now, callers)
  return { operations, identify, forget: callers.forget, passwords, now }
}
