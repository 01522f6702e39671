import { type SQL, sql } from 'drizzle-orm'

/**
 * Returns a condition: whether the user in the row `"user"` may view the channel in the row
 * `channel`. It states for any user what the policies of row-level security state for the
 * caller of a transaction.
 */
export const mayViewChannel: SQL = sql`(
  "user".is_active and "user".is_verified and exists (
    select from role r where r.role_id = "user".role_id and (
      r.role_key = 'superadmin'
      or exists (select from user_channel a where a.user_id = "user".user_id and a.channel_id = channel.channel_id)
      or (
        (not exists (select from user_usecase a where a.user_id = "user".user_id)
          or exists (select from user_usecase a where a.user_id = "user".user_id and a.usecase_id = channel.usecase_id))
        and exists (
          select from site s where s.site_id = channel.site_id and (
            exists (select from user_site a where a.user_id = "user".user_id and a.site_id = s.site_id)
            or exists (select from user_customer a where a.user_id = "user".user_id and a.customer_id = s.customer_id)
            or (r.role_key = 'admin' and s.organization_id in (
              select "user".organization_id where "user".organization_id is not null
              union all (
                select c.organization_id from customer c join user_customer a using (customer_id)
                where a.user_id = "user".user_id and "user".organization_id is null
                union
                select o.organization_id from site o join user_site a using (site_id)
                where a.user_id = "user".user_id and "user".organization_id is null))))))))) `
