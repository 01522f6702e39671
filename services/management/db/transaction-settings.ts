import type { Principal } from '../rights/principal.ts'
import { formatTextArray } from './text-array.ts'

/**
 * Custom Postgres parameters of a transaction. Row-level security policies and audit triggers read
 * them.
 */
export type TransactionSettings = Readonly<Record<`eyrie.${string}`, string>>

/**
 * Returns the settings of a transaction with the rights of a user, by which policies decide which
 * rows the user may access. The scope `all` permits every row; otherwise the lists of ids apply.
 * `actor`, `operation` and the address appear in the audit log.
 */
export const createUserSettings = (
  principal: Principal,
  operation: string,
): TransactionSettings => ({
  'eyrie.scope': principal.role === 'superadmin' ? 'all' : '',
  'eyrie.user': principal.user_id,
  'eyrie.role': principal.role ?? '',
  'eyrie.organizations': formatTextArray(principal.organizations),
  'eyrie.memberships': formatTextArray(principal.memberships),
  'eyrie.customers': formatTextArray(principal.customers),
  'eyrie.sites': formatTextArray(principal.sites),
  'eyrie.channels': formatTextArray(principal.channels),
  'eyrie.usecases': formatTextArray(principal.usecases),
  'eyrie.actor': principal.actor,
  'eyrie.operation': operation,
  'eyrie.address': principal.address ?? '',
})

/**
 * Returns the settings of a transaction of the appliance itself, which may read and change every
 * row.
 */
export const createSystemSettings = (operation: string): TransactionSettings => ({
  'eyrie.scope': 'all',
  'eyrie.operation': operation,
})
