/** Something that has to be so, and that no constraint of the database can hold. */
export interface Invariant {
  /** As a sentence. */
  says: string
  /** Selects `what`, a row for each case in which it is not so. */
  query: string
  remedy: string
}

export const invariants: readonly Invariant[] = [
  {
    says: 'every organization has a default customer',
    query: `select organization_key as what from organization o
      where not exists (select from customer c where c.organization_id = o.organization_id and c.is_default)`,
    remedy: 'create one: without it, nothing can be assigned to no customer',
  },
  {
    says: "a schedule is of its alert's channel",
    query: `select schedule_id::text as what from schedule s join alert a using (alert_id)
      where s.channel_id <> a.channel_id`,
    remedy: 'delete it and create it for the channel of its alert',
  },
  {
    says: 'users are assigned what lies in their own organization',
    query: `
      select format('%s: customer %s', u.email, c.customer_key) as what
      from user_customer join "user" u using (user_id) join customer c using (customer_id)
      where u.organization_id <> c.organization_id
      union all
      select format('%s: site %s', u.email, s.site_key)
      from user_site join "user" u using (user_id) join site s using (site_id)
      where u.organization_id <> s.organization_id
      union all
      select format('%s: channel %s', u.email, c.channel_name)
      from user_channel join "user" u using (user_id) join channel c using (channel_id) join site s using (site_id)
      where u.organization_id <> s.organization_id`,
    remedy: 'unassign it, if it was not meant',
  },
  {
    says: 'there is somebody who may do everything',
    query: `select 'no active superadmin' as what where not exists (
      select from "user" join role using (role_id) where role_key = 'superadmin' and is_active and is_verified)`,
    remedy:
      'set EYRIE_ADMIN_EMAIL and EYRIE_ADMIN_PASSWORD and start Eyrie on an empty database, or restore a backup',
  },
  {
    says: "an engine's output has been followed at least as far as its newest message that is stored",
    query: `select format('%s: followed to %s, stored up to %s', engine_name, s.seq, max(e.seq)) as what
      from event e join engine_state s using (engine_id, log_id) join engine using (engine_id)
      group by engine_id, engine_name, s.seq having max(e.seq) > s.seq`,
    remedy: 'start Eyrie: messages that come once more are stored once',
  },
  {
    says: 'events are of channels on the engine that has told them',
    query: `select format('channel %s: %s events of another engine', c.channel_name, count(*)) as what
      from event e join channel c using (channel_id) where e.engine_id <> c.engine_id
        and not exists (select from source s where s.source_id = c.source_id and s.created_at > e.time)
        and e.time > c.created_at
      group by c.channel_name`,
    remedy: 'the channel has moved to another engine, or two engines were mixed up: look at their addresses',
  },
  {
    says: 'nothing is read from the disk other than it was written',
    query: `select format('database %s: %s pages', datname, checksum_failures) as what from pg_stat_database
      where datname = current_database() and checksum_failures > 0`,
    remedy: 'the disk is failing: restore a backup on another one',
  },
  {
    says: 'rights are in force for every table',
    query: `select relname::text as what from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> 'migration'
        and not (relrowsecurity and relforcerowsecurity)`,
    remedy: 'as the owner of the table: alter table … enable row level security, force row level security',
  },
]
