import { sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import type { Principal } from '../rights/principal.ts'

type Assigned = Omit<Principal, 'session_id' | 'scopes'>

/**
 * What is assigned to a user at this moment; undefined where there is none, or none who may act. A superadmin needs no
 * assignments. An admin administers the organization that is set, else those of the customers and sites assigned.
 */
export async function loadPrincipal(tx: Transaction, user_id: string): Promise<Assigned | undefined> {
  const [found] = await tx.execute<Assigned & Record<string, unknown>>(sql`
    with known as (
      select u.user_id, u.email, u.organization_id, r.role_key,
        array(select customer_id::text from user_customer c where c.user_id = u.user_id) as customers,
        array(select site_id::text from user_site s where s.user_id = u.user_id) as sites,
        array(select channel_id::text from user_channel c where c.user_id = u.user_id) as channels,
        array(select usecase_id::text from user_usecase c where c.user_id = u.user_id) as usecases,
        array(
          select organization_id::text from customer join user_customer c using (customer_id) where c.user_id = u.user_id
          union select organization_id::text from site join user_site s using (site_id) where s.user_id = u.user_id
        ) as reached
      from "user" u left join role r using (role_id)
      where u.user_id = ${user_id} and u.is_active and u.is_verified
    )
    select user_id, email as actor, role_key as role, customers, sites, channels, usecases,
      case when role_key <> 'admin' or role_key is null then '{}'::text[]
        when organization_id is not null then array[organization_id::text] else reached end as organizations,
      case when organization_id is null then reached
        else array(select distinct unnest(reached || organization_id::text)) end as memberships
    from known`)
  return found
}
