import { ROLE_KEYS } from '@eyrie/contract/management/index'

/** All roles from highest to lowest. Each role includes the rights of all lower roles. */
export const ROLES = ROLE_KEYS
export type Role = (typeof ROLES)[number]

/** An authenticated caller, with all facts that access decisions depend on. Lists contain ids. */
export interface Principal {
  user_id: string
  /** Name of the caller in audit entries, such as an e-mail address. */
  actor: string
  /** Null until an administrator assigns a role. */
  role: Role | null
  /** Organizations that the caller administers. */
  organizations: readonly string[]
  /** Organizations in which the caller has any assignments, including `organizations`. */
  memberships: readonly string[]
  /** Customers, sites and channels that are assigned to the caller. */
  customers: readonly string[]
  sites: readonly string[]
  channels: readonly string[]
  /** Usecases that the caller is limited to; empty for no limitation. */
  usecases: readonly string[]
  /** IP address of the client. Undefined for work that no request has started. */
  address?: string
  /** Undefined for a caller with an API token. */
  session_id?: string
  /** Id of the caller's API token. Undefined for a caller with a session. */
  token_id?: string
  /**
   * Scopes of the caller's API token. Undefined for a caller with a session, who has
   * all rights of the role.
   */
  scopes?: readonly string[]
}
