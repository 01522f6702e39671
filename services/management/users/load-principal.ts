import { sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { userChannel, userCustomer, userSite, userUsecase } from '../db/schema/index.ts'
import type { Principal } from '../rights/principal.ts'
import { selectAssigned } from './user-queries.ts'

/**
 * The facts about a user that access decisions depend on: the role, and the ids of assigned
 * records.
 */
type UserRights = Omit<Principal, 'address' | 'session_id' | 'token_id' | 'scopes'>

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
    with stored as (
      select
        "user".user_id,
        "user".email,
        "user".organization_id,
        role.role_key,
        ${selectAssigned(userCustomer.customer_id, userCustomer.user_id)} as customers,
        ${selectAssigned(userSite.site_id, userSite.user_id)} as sites,
        ${selectAssigned(userChannel.channel_id, userChannel.user_id)} as channels,
        ${selectAssigned(userUsecase.usecase_id, userUsecase.user_id)} as usecases,
        array(
          select organization_id::text
          from customer
          join user_customer assigned using (customer_id)
          where assigned.user_id = "user".user_id
          union
          select organization_id::text
          from site
          join user_site assigned using (site_id)
          where assigned.user_id = "user".user_id
        ) as assigned_organizations
      from "user"
      left join role using (role_id)
      where "user".user_id = ${userId}
        and "user".is_active
        and "user".is_verified
    )
    select
      user_id,
      email as actor,
      role_key as role,
      customers,
      sites,
      channels,
      usecases,
      case
        when role_key <> 'admin' or role_key is null then '{}'::text[]
        when organization_id is not null then array[organization_id::text]
        else assigned_organizations
      end as organizations,
      case
        when organization_id is null then assigned_organizations
        else array(select distinct unnest(assigned_organizations || organization_id::text))
      end as memberships
    from stored`)
  return rights
}
