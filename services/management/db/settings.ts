import type { Principal } from '../rights/principal.ts'

/** Settings of a transaction, which policies and the audit read. */
export type Settings = Readonly<Record<`eyrie.${string}`, string>>

/** Of a user, who sees and changes what `rights.ts` says. */
export function settingsOf(principal: Principal, operation: string): Settings {
  return {
    'eyrie.scope': principal.role === 'superadmin' ? 'all' : '',
    'eyrie.user': principal.user_id,
    'eyrie.role': principal.role ?? '',
    'eyrie.organizations': arrayLiteral(principal.organizations),
    'eyrie.memberships': arrayLiteral(principal.memberships),
    'eyrie.customers': arrayLiteral(principal.customers),
    'eyrie.sites': arrayLiteral(principal.sites),
    'eyrie.channels': arrayLiteral(principal.channels),
    'eyrie.usecases': arrayLiteral(principal.usecases),
    'eyrie.actor': principal.actor,
    'eyrie.operation': operation,
  }
}

/** Of the appliance itself, which sees and changes everything. */
export const settingsOfSystem = (operation: string): Settings => ({
  'eyrie.scope': 'all',
  'eyrie.operation': operation,
})

/** As Postgres writes arrays. */
function arrayLiteral(values: readonly string[]): string {
  return `{${values.map(value => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}
