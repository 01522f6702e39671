/** From highest to lowest. Each role has all rights of those after it. */
export const roles = ['superadmin', 'admin', 'manager', 'viewer'] as const
export type Role = (typeof roles)[number]

/** An authenticated caller with everything that access decisions are based on. */
export interface Principal {
  user_id: string
  /** Name of the caller in audit entries, such as an e-mail address. */
  actor: string
  /** Null until an administrator assigns a role. */
  role: Role | null
  /** Organizations that the caller administers. */
  organizations: readonly string[]
  /** Organizations in which anything is assigned to the caller, including `organizations`. */
  memberships: readonly string[]
  customers: readonly string[]
  sites: readonly string[]
  channels: readonly string[]
  /** Empty: all usecases. */
  usecases: readonly string[]
  session_id?: string
  /** Scopes of an API token. Undefined: everything that the role may do. */
  scopes?: readonly string[]
}
