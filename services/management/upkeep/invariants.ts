/**
 * A rule about the contents of the database that no constraint can express.
 * `eyrie check` checks all rules.
 */
export interface Invariant {
  /** The rule as a sentence. */
  rule: string
  /** Selects a row for each violation, with a description as `what`. */
  query: string
  remedy: string
}

export const INVARIANTS: readonly Invariant[] = [
  {
    rule: 'every organization has a default customer',
    query: `
      select organization_key as what
      from organization
      where not exists (
        select from customer
        where customer.organization_id = organization.organization_id
          and customer.is_default
      )`,
    remedy: 'create one: it has the sites that are not assigned to another customer',
  },
  {
    rule: 'every schedule belongs to the channel of its alert',
    query: `
      select schedule_id::text as what
      from schedule
      join alert using (alert_id)
      where schedule.channel_id <> alert.channel_id`,
    remedy: 'delete it and create it for the channel of its alert',
  },
  {
    rule: 'all assignments of a user are in the organization of the user',
    query: `
      select format('%s: customer %s', "user".email, customer.customer_key) as what
      from user_customer
      join "user" using (user_id)
      join customer using (customer_id)
      where "user".organization_id <> customer.organization_id
      union all
      select format('%s: site %s', "user".email, site.site_key)
      from user_site
      join "user" using (user_id)
      join site using (site_id)
      where "user".organization_id <> site.organization_id
      union all
      select format('%s: channel %s', "user".email, channel.channel_name)
      from user_channel
      join "user" using (user_id)
      join channel using (channel_id)
      join site using (site_id)
      where "user".organization_id <> site.organization_id`,
    remedy: 'remove the assignment unless it is intended',
  },
  {
    rule: 'there is an active superadmin',
    query: `
      select 'no active superadmin' as what
      where not exists (
        select from "user"
        join role using (role_id)
        where role_key = 'superadmin'
          and is_active
          and is_verified
      )`,
    remedy:
      'set EYRIE_ADMIN_EMAIL and EYRIE_ADMIN_PASSWORD and start Eyrie on an empty database, or restore a backup',
  },
  // `engine_state.seq` is the sequence number of the last message that was read from the
  // output log of an engine.
  {
    rule: 'the position in the output of an engine is not behind its newest stored message',
    query: `
      select
        format(
          '%s: followed to %s, stored up to %s',
          engine_name,
          engine_state.seq,
          max(event.seq)
        ) as what
      from event
      join engine_state using (engine_id, log_id)
      join engine using (engine_id)
      group by engine_id, engine_name, engine_state.seq
      having max(event.seq) > engine_state.seq`,
    remedy: 'start Eyrie: messages that arrive again are stored only once',
  },
  {
    rule: 'every event comes from the engine of its channel',
    query: `
      select
        format('channel %s: %s events of another engine', channel.channel_name, count(*)) as what
      from event
      join channel using (channel_id)
      where event.engine_id <> channel.engine_id
        and event.time > channel.created_at
        and not exists (
          select from source
          where source.source_id = channel.source_id
            and source.created_at > event.time
        )
      group by channel.channel_name`,
    remedy:
      'the channel has moved to another engine, or two engines were confused: check their addresses',
  },
  {
    rule: 'the checksums of all database pages match',
    query: `
      select format('database %s: %s pages', datname, checksum_failures) as what
      from pg_stat_database
      where datname = current_database()
        and checksum_failures > 0`,
    remedy: 'the disk is failing: restore a backup on another disk',
  },
  {
    rule: 'row-level security is enabled on every table',
    query: `
      select relname::text as what
      from pg_class
      where relnamespace = 'public'::regnamespace
        and relkind in ('r', 'p')
        and relname <> 'migration'
        and not (relrowsecurity and relforcerowsecurity)`,
    remedy:
      'as the owner of the table: alter table … enable row level security, force row level security',
  },
]
