import type { Principal } from '../rights/principal.ts'
import { formatTextArray } from './text-array.ts'

/** Settings that last for one transaction. The row-level security policies and the audit triggers read them. */
export type TransactionSettings = Readonly<Record<`eyrie.${string}`, string>>

/** A transaction with the rights of a user. */
export const settingsOfUser = (principal: Principal, operation: string): TransactionSettings => ({
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
})

/** A transaction of the appliance itself, which may read and change every row. */
export const settingsOfSystem = (operation: string): TransactionSettings => ({
  'eyrie.scope': 'all',
  'eyrie.operation': operation,
})
