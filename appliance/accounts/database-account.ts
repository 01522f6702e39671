import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type Account, findAccount, findAccountById } from '@eyrie/kit/accounts/account'
import { findClosedPath, type Privileges } from '@eyrie/kit/accounts/setpriv'
import type { ServiceSeparation } from './service-separation.ts'

/** Users for the database server, which refuses to run as root, in order of preference. */
const UNPRIVILEGED_USERS = ['eyrie-database', 'postgres', 'nobody']

/**
 * Returns the user of the database server, or undefined if management runs the server as the
 * user that started Eyrie.
 */
export function chooseDatabaseAccount(
  separation: ServiceSeparation,
  data: string,
): Account | undefined {
  if (separation.kind === 'ordinary-user') return undefined
  if (separation.kind === 'users') return separation.accounts.database
  const owner = statSync(join(data, 'postgres/data'), { throwIfNoEntry: false })
  if (owner && owner.uid !== 0) return findAccountById(owner.uid)
  return UNPRIVILEGED_USERS.map(findAccount).find(account => account !== undefined)
}

/**
 * Returns the privileges of the database server. If its user cannot enter the folder of Eyrie, such
 * as one in root's home folder, the server may read all files.
 */
export async function findDatabasePrivileges(
  account: Account,
  paths: readonly string[],
): Promise<Privileges> {
  const closed = await findClosedPath({ account }, 'read', paths)
  return closed === undefined ? { account } : { account, capabilities: ['dac_read_search'] }
}
