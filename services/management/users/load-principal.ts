import { sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import type { Principal } from '../rights/principal.ts'

/**
 * The facts about a user that access decisions depend on: the role, and the ids of assigned
 * records.
 */
type UserRights = Omit<Principal, 'address' | 'session_id' | 'scopes'>

/**
 * Returns the rights of a user, or undefined if the user does not exist, is inactive or is not
 * verified.
 *
 * `organizations` are the ones that the user administers: for an admin, their own organization, or
 * without one, the organizations of the assigned customers and sites. `memberships` are all
 * organizations in which the user has assignments.
 */
export async function loadPrincipal(
  tx: Transaction,
  userId: string,
): Promise<UserRights | undefined> {
  const [rights] = await tx.execute<UserRights & Record<string, unknown>>(sql`
    with assignments as (
      select u.user_id, u.email, u.organization_id, r.role_key,
        array(select customer_id::text from user_customer c where c.user_id = u.user_id) as customers,
        array(select site_id::text from user_site s where s.user_id = u.user_id) as sites,
        array(select channel_id::text from user_channel c where c.user_id = u.user_id) as channels,
        array(select usecase_id::text from user_usecase c where c.user_id = u.user_id) as usecases,
        array(
          select organization_id::text from customer join user_customer c using (customer_id) where c.user_id = u.user_id
          union select organization_id::text from site join user_site s using (site_id) where s.user_id = u.user_id
        ) as assigned_organizations
      from "user" u left join role r using (role_id)
      where u.user_id = ${userId} and u.is_active and u.is_verified
    )
    select user_id, email as actor, role_key as role, customers, sites, channels, usecases,
      case when role_key <> 'admin' or role_key is null then '{}'::text[]
        when organization_id is not null then array[organization_id::text] else assigned_organizations end as organizations,
      case when organization_id is null then assigned_organizations
        else array(select distinct unnest(assigned_organizations || organization_id::text)) end as memberships
    from assignments`)
  return rights
}
