import { type Account, findAccount } from '@eyrie/kit/accounts/account'

/** The processes of the appliance that have a user of their own. */
export const ROLES = ['media', 'engine', 'management', 'scheduler', 'database'] as const
export type Role = (typeof ROLES)[number]

/** The user of each role. Their common primary group is `SERVICE_GROUP`. */
export type ServiceAccounts = Readonly<Record<Role, Account>>

/**
 * The group of the files that several services read. `appliance/setup/setup.sh`
 * creates it, and the users.
 */
export const SERVICE_GROUP = 'eyrie-services'

/** Returns the users that the setup creates, or the name of the first one that does not exist. */
export function findServiceAccounts(): ServiceAccounts | { missing: string } {
  const accounts: Partial<Record<Role, Account>> = {}
  for (const role of ROLES) {
    const name = `eyrie-${role}`
    const account = findAccount(name)
    if (!account) return { missing: name }
    accounts[role] = account
  }
  return accounts as ServiceAccounts
}
