import { type SQL, sql } from 'drizzle-orm'

// The condition that a user may view a channel, as SQL. It is at the end of this file, after its
// parts. The parts refer to a row of `"user"` and the `role` of this user, and to a row of
// `channel` and the `site` of this channel. `assigned` is a row of a table that assigns records to
// users.

const CHANNEL_IS_ASSIGNED = sql`exists (
  select from user_channel assigned
  where assigned.user_id = "user".user_id
    and assigned.channel_id = channel.channel_id
)`

/** A user without assigned usecases is not limited to any. */
const USECASE_IS_ALLOWED = sql`(
  not exists (
    select from user_usecase assigned
    where assigned.user_id = "user".user_id
  )
  or exists (
    select from user_usecase assigned
    where assigned.user_id = "user".user_id
      and assigned.usecase_id = channel.usecase_id
  )
)`

const SITE_IS_ASSIGNED = sql`exists (
  select from user_site assigned
  where assigned.user_id = "user".user_id
    and assigned.site_id = site.site_id
)`

const CUSTOMER_IS_ASSIGNED = sql`exists (
  select from user_customer assigned
  where assigned.user_id = "user".user_id
    and assigned.customer_id = site.customer_id
)`

/**
 * An admin administers their own organization or, without one, the organizations of the customers
 * and sites that are assigned to them.
 */
const ADMINISTERS_ORGANIZATION = sql`(
  role.role_key = 'admin'
  and case
    when "user".organization_id is not null then site.organization_id = "user".organization_id
    else site.organization_id in (
      select customer.organization_id
      from customer
      join user_customer assigned using (customer_id)
      where assigned.user_id = "user".user_id
      union
      select assigned_site.organization_id
      from site assigned_site
      join user_site assigned using (site_id)
      where assigned.user_id = "user".user_id
    )
  end
)`

/**
 * The condition that the user in the row `"user"` may view the channel in the row `channel`. It
 * states for any user what the policies of row-level security state for the caller of a
 * transaction.
 */
export const mayViewChannel: SQL = sql`(
  "user".is_active
  and "user".is_verified
  and exists (
    select from role
    where role.role_id = "user".role_id
      and (
        role.role_key = 'superadmin'
        or ${CHANNEL_IS_ASSIGNED}
        or (
          ${USECASE_IS_ALLOWED}
          and exists (
            select from site
            where site.site_id = channel.site_id
              and (${SITE_IS_ASSIGNED} or ${CUSTOMER_IS_ASSIGNED} or ${ADMINISTERS_ORGANIZATION})
          )
        )
      )
  )
)`
