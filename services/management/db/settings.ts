import type { Principal } from '../rights/principal.ts'
import { writeTextArray } from './text-array.ts'

/** Settings of a transaction, which policies and the audit read. */
export type Settings = Readonly<Record<`eyrie.${string}`, string>>

/** Of a user, who sees and changes what `rights.ts` says. */
export function settingsOf(principal: Principal, operation: string): Settings {
  return {
    'eyrie.scope': principal.role === 'superadmin' ? 'all' : '',
    'eyrie.user': principal.user_id,
    'eyrie.role': principal.role ?? '',
    'eyrie.organizations': writeTextArray(principal.organizations),
    'eyrie.memberships': writeTextArray(principal.memberships),
    'eyrie.customers': writeTextArray(principal.customers),
    'eyrie.sites': writeTextArray(principal.sites),
    'eyrie.channels': writeTextArray(principal.channels),
    'eyrie.usecases': writeTextArray(principal.usecases),
    'eyrie.actor': principal.actor,
    'eyrie.operation': operation,
  }
}

/** Of the appliance itself, which sees and changes everything. */
export const settingsOfSystem = (operation: string): Settings => ({
  'eyrie.scope': 'all',
  'eyrie.operation': operation,
})
