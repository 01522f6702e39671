/** Each role may what those behind it may. */
export const roles = ['superadmin', 'admin', 'manager', 'viewer'] as const
export type Role = (typeof roles)[number]

/** Who calls, and what is assigned to them: all that rights go by. */
export interface Principal {
  user_id: string
  /** What people know the caller by, such as an e-mail address. */
  actor: string
  /** Null: a user to whom no administrator has given a role yet. */
  role: Role | null
  /** Organizations that the caller administers. */
  organizations: readonly string[]
  /** Those in which anything is assigned to the caller, the former among them. */
  memberships: readonly string[]
  customers: readonly string[]
  sites: readonly string[]
  channels: readonly string[]
  /** None: every usecase. */
  usecases: readonly string[]
  session_id?: string
  /** Of an API token: what it was made for. None: everything that the role may. */
  scopes?: readonly string[]
}
