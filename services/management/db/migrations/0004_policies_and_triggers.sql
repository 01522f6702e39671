-- Row-level security, the audit log, notifications of the fleet and partitions of events.
-- Releases before this migration created all of this at every start, so it replaces what exists.

-- Transaction settings that the policies and triggers read (transaction-settings.ts):
--   eyrie.scope                                'all': the superadmin or the appliance itself, without restrictions
--   eyrie.user, eyrie.role                     the caller
--   eyrie.organizations                        organizations that the caller administers
--   eyrie.memberships                          organizations in which anything is assigned to the caller
--   eyrie.customers, .sites, .channels, .usecases   assignments of the caller
--   eyrie.actor, eyrie.operation               recorded in the audit log

create or replace function caller_ids(setting text) returns uuid[] language sql stable as $$
  select nullif(current_setting('eyrie.' || setting, true), '')::uuid[]
$$;

-- A function instead of a subquery, because planning the policies of engine is expensive: this way a query plans them
-- only if it evaluates the function.
create or replace function sees_engine(asked uuid) returns boolean language plpgsql stable as $$
begin
  return exists (select from engine where engine_id = asked);
end
$$;

-- Whether all assignments of a user are in organizations that the caller administers. Who could set the password of a
-- user with other assignments would gain access to those organizations. It reads with all rights, because the caller
-- does not see the other assignments.
create or replace function administers(person uuid) returns boolean language plpgsql stable as $$
declare
  scope text := current_setting('eyrie.scope', true);
  organizations uuid[] := caller_ids('organizations');
  answer boolean;
begin
  if cardinality(coalesce(organizations, '{}')) = 0 then
    return false;
  end if;
  perform set_config('eyrie.scope', 'all', true);
  select coalesce(bool_and(organization_id = any (organizations)), false) into answer from (
    select organization_id from "user" where user_id = person and organization_id is not null
    union select organization_id from user_customer join customer using (customer_id) where user_id = person
    union select organization_id from user_site join site using (site_id) where user_id = person
    union select organization_id from user_channel join channel using (channel_id) join site using (site_id)
      where user_id = person
  ) as reached;
  answer := answer and not exists (
    select from "user" join role using (role_id) where user_id = person and role_key = 'superadmin');
  perform set_config('eyrie.scope', coalesce(scope, ''), true);
  return answer;
end
$$;
--> statement-breakpoint

-- Creates the policies of a table. `visible` applies to SELECT, `changeable` to UPDATE and DELETE, `made` to INSERT.
-- The settings are read in subqueries, which are evaluated once per query, not once per row.
create or replace function pg_temp.define_policies(
  table_name text, visible text, changeable text default null, made text default null
) returns void language plpgsql as $$
declare
  unrestricted text := $sql$(select current_setting('eyrie.scope', true)) = 'all'$sql$;
begin
  changeable := coalesce(changeable, visible);
  made := coalesce(made, changeable);
  execute format('alter table %I enable row level security, force row level security', table_name);
  execute format('drop policy if exists visible on %I', table_name);
  execute format('drop policy if exists made on %I', table_name);
  execute format('drop policy if exists changed on %I', table_name);
  execute format('drop policy if exists removed on %I', table_name);
  execute format('create policy visible on %I for select using (%s or (%s))', table_name, unrestricted, visible);
  execute format('create policy made on %I for insert with check (%s or (%s))', table_name, unrestricted, made);
  execute format('create policy changed on %I for update using (%s or (%s))', table_name, unrestricted, changeable);
  execute format('create policy removed on %I for delete using (%s or (%s))', table_name, unrestricted, changeable);
end
$$;
--> statement-breakpoint

-- The rights over records. What a role may do at all is decided by the route. A subquery sees only what the caller sees.

-- Hierarchy

select pg_temp.define_policies('organization',
  visible => $$ organization_id = any ((select caller_ids('memberships'))::uuid[]) $$,
  changeable => $$ organization_id = any ((select caller_ids('organizations'))::uuid[]) $$);

select pg_temp.define_policies('customer',
  visible => $$
    organization_id = any ((select caller_ids('organizations'))::uuid[])
    or customer_id = any ((select caller_ids('customers'))::uuid[])
    or exists (select from site t where t.customer_id = customer.customer_id
      and t.site_id = any ((select caller_ids('sites'))::uuid[])) $$,
  changeable => $$
    organization_id = any ((select caller_ids('organizations'))::uuid[])
    or customer_id = any ((select caller_ids('customers'))::uuid[]) $$);

select pg_temp.define_policies('site',
  visible => $$
    organization_id = any ((select caller_ids('organizations'))::uuid[])
    or customer_id = any ((select caller_ids('customers'))::uuid[])
    or site_id = any ((select caller_ids('sites'))::uuid[]) $$);

-- Engines

-- Starts from the visible sites: they are few, whereas an engine may read thousands of devices of others.
select pg_temp.define_policies('engine',
  visible => $$
    organization_id = any ((select caller_ids('organizations'))::uuid[])
    or exists (select from engine_site t where t.engine_id = engine.engine_id)
    or exists (select from site t join device d using (site_id) where d.engine_id = engine.engine_id) $$,
  changeable => $$ organization_id = any ((select caller_ids('organizations'))::uuid[]) $$);

select pg_temp.define_policies('engine_site',
  visible => $$ exists (select from site t where t.site_id = engine_site.site_id) $$);

select pg_temp.define_policies('engine_state',
  visible => 'sees_engine(engine_id)',
  changeable => 'false');

select pg_temp.define_policies('engine_statistics',
  visible => $$ exists (select from engine t where t.engine_id = engine_statistics.engine_id) $$,
  changeable => 'false');

select pg_temp.define_policies('provision', visible => 'false');

-- Devices and channels

select pg_temp.define_policies('device',
  visible => $$ exists (select from site t where t.site_id = device.site_id) $$);

select pg_temp.define_policies('device_stream',
  visible => $$ exists (select from device t where t.device_id = device_stream.device_id) $$);

select pg_temp.define_policies('source',
  visible => $$ exists (select from site t where t.site_id = source.site_id) $$);

select pg_temp.define_policies('static_content',
  visible => $$ exists (select from source t where t.source_id = static_content.source_id) $$);

-- Without assigned usecases, a caller sees all of them.
select pg_temp.define_policies('usecase',
  visible => $$
    cardinality(coalesce((select caller_ids('usecases'))::uuid[], '{}')) = 0
    or usecase_id = any ((select caller_ids('usecases'))::uuid[])
    or exists (select from channel t where t.usecase_id = usecase.usecase_id
      and t.channel_id = any ((select caller_ids('channels'))::uuid[])) $$,
  changeable => 'false');

select pg_temp.define_policies('pipeline',
  visible => $$
    exists (select from engine t where t.engine_id = pipeline.engine_id)
    and (organization_id is null or organization_id = any ((select caller_ids('memberships'))::uuid[])) $$);

select pg_temp.define_policies('channel',
  visible => $$
    channel_id = any ((select caller_ids('channels'))::uuid[])
    or (
      exists (select from site t where t.site_id = channel.site_id)
      and (cardinality(coalesce((select caller_ids('usecases'))::uuid[], '{}')) = 0
        or usecase_id = any ((select caller_ids('usecases'))::uuid[]))
    ) $$,
  changeable => $$ exists (select from site t where t.site_id = channel.site_id) $$);

select pg_temp.define_policies('channel_state',
  visible => $$ exists (select from channel t where t.channel_id = channel_state.channel_id) $$,
  changeable => 'false');

-- Alerts and events. `in` evaluates the visible channels once for any number of rows.

select pg_temp.define_policies('alert',
  visible => $$ exists (select from channel t where t.channel_id = alert.channel_id) $$);

select pg_temp.define_policies('alert_state',
  visible => $$ exists (select from alert t where t.alert_id = alert_state.alert_id) $$);

select pg_temp.define_policies('schedule',
  visible => $$ exists (select from channel t where t.channel_id = schedule.channel_id) $$);

select pg_temp.define_policies('notification',
  visible => 'channel_id in (select t.channel_id from channel t)',
  changeable => 'false');

select pg_temp.define_policies('event',
  visible => 'channel_id in (select t.channel_id from channel t)',
  changeable => 'false');

select pg_temp.define_policies('statistic_minute',
  visible => 'channel_id in (select t.channel_id from channel t)',
  changeable => 'false');

select pg_temp.define_policies('channel_counter', visible => 'false');
select pg_temp.define_policies('picture', visible => 'false');

-- Users

select pg_temp.define_policies('role', visible => 'true', changeable => 'false');

select pg_temp.define_policies('user',
  visible => $$
    user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid
    or organization_id = any ((select caller_ids('organizations'))::uuid[])
    or exists (select from user_customer t join customer c using (customer_id)
      where t.user_id = "user".user_id and c.organization_id = any ((select caller_ids('organizations'))::uuid[]))
    or exists (select from user_site t join site s using (site_id)
      where t.user_id = "user".user_id and s.organization_id = any ((select caller_ids('organizations'))::uuid[])) $$,
  changeable => $$ user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid or administers(user_id) $$,
  made => $$ organization_id = any ((select caller_ids('organizations'))::uuid[]) $$);

select pg_temp.define_policies('user_customer',
  visible => $$
    user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid
    or exists (select from customer t where t.customer_id = user_customer.customer_id) $$,
  changeable => $$
    exists (select from customer t where t.customer_id = user_customer.customer_id) and administers(user_id) $$);

select pg_temp.define_policies('user_site',
  visible => $$
    user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid
    or exists (select from site t where t.site_id = user_site.site_id) $$,
  changeable => $$ exists (select from site t where t.site_id = user_site.site_id) and administers(user_id) $$);

select pg_temp.define_policies('user_channel',
  visible => $$
    user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid
    or exists (select from channel t where t.channel_id = user_channel.channel_id) $$,
  changeable => $$
    exists (select from channel t where t.channel_id = user_channel.channel_id) and administers(user_id) $$);

select pg_temp.define_policies('user_usecase',
  visible => $$
    user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid
    or exists (select from "user" t where t.user_id = user_usecase.user_id) $$,
  changeable => 'administers(user_id)');

select pg_temp.define_policies('session',
  visible => $$ user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid or administers(user_id) $$);

select pg_temp.define_policies('api_token',
  visible => $$ user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid or administers(user_id) $$);

select pg_temp.define_policies('sign_in_failure', visible => 'false');

select pg_temp.define_policies('audit',
  visible => $$ organization_id = any ((select caller_ids('organizations'))::uuid[]) $$,
  changeable => 'false',
  made => 'pg_trigger_depth() > 0');

-- Console and settings

select pg_temp.define_policies('ui_module', visible => 'true', changeable => 'false');
select pg_temp.define_policies('ui_component', visible => 'true', changeable => 'false');

select pg_temp.define_policies('setting',
  visible => $$ (select current_setting('eyrie.role', true)) = 'admin' $$,
  changeable => 'false');

select pg_temp.define_policies('image',
  visible => $$ organization_id is null or organization_id = any ((select caller_ids('memberships'))::uuid[]) $$);
--> statement-breakpoint

drop function pg_temp.define_policies;

-- Partitions have row-level security without policies: a query that names one instead of its table sees no rows.
do $$
declare
  part regclass;
begin
  for part in select oid from pg_class where relispartition and relkind = 'r' loop
    execute format('alter table %s enable row level security, force row level security', part);
  end loop;
end
$$;
--> statement-breakpoint

-- Audit log

-- The organization of a record. Most tables refer to it only indirectly.
create or replace function organization_of(record jsonb) returns uuid language sql stable as $$
  select coalesce(
    (record ->> 'organization_id')::uuid,
    (select organization_id from customer where customer_id = (record ->> 'customer_id')::uuid),
    (select organization_id from site where site_id = (record ->> 'site_id')::uuid),
    (select s.organization_id from channel join site s using (site_id)
      where channel_id = (record ->> 'channel_id')::uuid),
    (select s.organization_id from source join site s using (site_id)
      where source_id = (record ->> 'source_id')::uuid),
    (select s.organization_id from device join site s using (site_id)
      where device_id = (record ->> 'device_id')::uuid),
    (select organization_id from engine where engine_id = (record ->> 'engine_id')::uuid),
    (select organization_id from "user" where user_id = (record ->> 'user_id')::uuid)
  )
$$;

-- Arguments: the columns of the primary key, and the columns whose values are recorded as ***.
create or replace function write_audit() returns trigger language plpgsql as $$
declare
  key_columns text[] := tg_argv[0];
  secret_columns text[] := tg_argv[1];
  -- Changes of these columns alone are not recorded.
  moments text[] := '{last_logged_in_at,used_at}';
  earlier jsonb := to_jsonb(old);
  later jsonb := to_jsonb(new);
  record jsonb := coalesce(later, earlier);
  secret text;
begin
  if earlier - moments = later - moments then
    return null;
  end if;
  foreach secret in array secret_columns loop
    earlier := case when earlier -> secret <> 'null' then earlier || jsonb_build_object(secret, '***') else earlier end;
    later := case when later -> secret <> 'null' then later || jsonb_build_object(secret, '***') else later end;
  end loop;
  insert into audit (user_id, actor, operation, record, record_id, change, before, after, organization_id) values (
    nullif(current_setting('eyrie.user', true), '')::uuid,
    coalesce(current_setting('eyrie.actor', true), ''),
    coalesce(current_setting('eyrie.operation', true), ''),
    tg_table_name,
    (select string_agg(record ->> name, ',' order by place) from unnest(key_columns) with ordinality as k (name, place)),
    case tg_op when 'INSERT' then 'create' when 'UPDATE' then 'update' else 'delete' end,
    earlier,
    later,
    organization_of(record)
  );
  return null;
end
$$;

create or replace trigger audit after insert or update or delete on organization
  for each row execute function write_audit('{organization_id}', '{}');
create or replace trigger audit after insert or update or delete on customer
  for each row execute function write_audit('{customer_id}', '{}');
create or replace trigger audit after insert or update or delete on site
  for each row execute function write_audit('{site_id}', '{}');
create or replace trigger audit after insert or update or delete on engine
  for each row execute function write_audit('{engine_id}', '{engine_key}');
create or replace trigger audit after insert or update or delete on engine_site
  for each row execute function write_audit('{engine_id,site_id}', '{}');
create or replace trigger audit after insert or update or delete on device
  for each row execute function write_audit('{device_id}', '{}');
create or replace trigger audit after insert or update or delete on device_stream
  for each row execute function write_audit('{device_id,id}', '{password}');
create or replace trigger audit after insert or update or delete on source
  for each row execute function write_audit('{source_id}', '{}');
create or replace trigger audit after insert or update or delete on static_content
  for each row execute function write_audit('{static_content_id}', '{}');
create or replace trigger audit after insert or update or delete on pipeline
  for each row execute function write_audit('{pipeline_id}', '{}');
create or replace trigger audit after insert or update or delete on channel
  for each row execute function write_audit('{channel_id}', '{}');
create or replace trigger audit after insert or update or delete on alert
  for each row execute function write_audit('{alert_id}', '{alert_actions}');
create or replace trigger audit after insert or update or delete on schedule
  for each row execute function write_audit('{schedule_id}', '{}');
create or replace trigger audit after insert or update or delete on "user"
  for each row execute function write_audit('{user_id}', '{password_hash}');
create or replace trigger audit after insert or update or delete on user_customer
  for each row execute function write_audit('{user_id,customer_id}', '{}');
create or replace trigger audit after insert or update or delete on user_site
  for each row execute function write_audit('{user_id,site_id}', '{}');
create or replace trigger audit after insert or update or delete on user_channel
  for each row execute function write_audit('{user_id,channel_id}', '{}');
create or replace trigger audit after insert or update or delete on user_usecase
  for each row execute function write_audit('{user_id,usecase_id}', '{}');
create or replace trigger audit after insert or update or delete on api_token
  for each row execute function write_audit('{token_id}', '{secret_hash}');
create or replace trigger audit after insert or update or delete on ui_module
  for each row execute function write_audit('{module_key}', '{}');
create or replace trigger audit after insert or update or delete on setting
  for each row execute function write_audit('{name}', '{value}');
create or replace trigger audit after insert or update or delete on image
  for each row execute function write_audit('{image_id}', '{}');
--> statement-breakpoint

-- Notifications of the fleet

-- Publishes the ids of the engines that a change concerns, when its transaction commits, and marks the affected channels
-- as not verified. Argument: columns whose changes do not concern the engine.
create or replace function tell_fleet() returns trigger language plpgsql as $$
declare
  ignored text[] := tg_argv[0];
  scope text := current_setting('eyrie.scope', true);
  record jsonb;
begin
  if to_jsonb(old) - ignored = to_jsonb(new) - ignored then
    return null;
  end if;
  -- The caller may change the record, but not the state of channels.
  perform set_config('eyrie.scope', 'all', true);
  foreach record in array array_remove(array[to_jsonb(old), to_jsonb(new)], null) loop
    if tg_table_name = 'device_stream' then
      perform pg_notify('eyrie_fleet', s.engine_id::text) from (
        select distinct engine_id from source where device_id = (record ->> 'device_id')::uuid) as s;
      update channel_state set is_verified = false where is_verified and channel_id in (
        select c.channel_id from channel c join source s using (source_id)
        where s.device_id = (record ->> 'device_id')::uuid and s.stream_id = (record ->> 'id')::int);
      continue;
    end if;

    perform pg_notify('eyrie_fleet', record ->> 'engine_id');
    if tg_table_name = 'source' then
      update channel_state set is_verified = false where is_verified and channel_id in (
        select c.channel_id from channel c where c.source_id = (record ->> 'source_id')::uuid);
    elsif tg_table_name = 'pipeline' then
      update channel_state set is_verified = false where is_verified and channel_id in (
        select c.channel_id from channel c where c.pipeline_id = (record ->> 'pipeline_id')::uuid);
    elsif tg_table_name = 'channel' then
      update channel_state set is_verified = false where is_verified and channel_id in (
        select c.channel_id from channel c where c.channel_id = (record ->> 'channel_id')::uuid);
    end if;
  end loop;
  perform set_config('eyrie.scope', coalesce(scope, ''), true);
  return null;
end
$$;

create or replace trigger tell_fleet after insert or update or delete on engine
  for each row execute function tell_fleet('{engine_updated_at,organization_id}');
create or replace trigger tell_fleet after insert or update or delete on device_stream
  for each row execute function tell_fleet('{resolution,uuid}');
create or replace trigger tell_fleet after insert or update or delete on source
  for each row execute function tell_fleet('{source_sid,source_name,static_content,site_id}');
create or replace trigger tell_fleet after insert or update or delete on pipeline
  for each row execute function tell_fleet('{pipeline_sid,pipeline_name,pipeline_reference_key,organization_id}');
create or replace trigger tell_fleet after insert or update or delete on channel
  for each row execute function tell_fleet(
    '{channel_sid,channel_key,channel_name,channel_favorite,channel_threshold_duration,is_storage,is_auto_recovery,usecase_id,site_id}');

drop function if exists
  tell_fleet_of_engine, tell_fleet_of_device_stream, tell_fleet_of_source, tell_fleet_of_pipeline, tell_fleet_of_channel;
--> statement-breakpoint

-- Partitions of events

-- Creates the partition of a week, named after its first day in UTC, and moves the week's events into it. Events without a
-- partition of their own are in the default partition, event_other.
create or replace function create_event_partition(week_start timestamptz) returns void language plpgsql as $$
declare
  name text := 'event_' || to_char(week_start at time zone 'UTC', 'YYYY_MM_DD');
  week_end timestamptz := week_start + interval '168 hours';
begin
  if to_regclass(name) is not null then
    return;
  end if;
  -- Held until the transaction ends: events that arrive meanwhile wait, and go into the new partition.
  lock table event in access exclusive mode;
  if to_regclass(name) is not null then
    return;
  end if;
  create temporary table early on commit drop as select * from event where time >= week_start and time < week_end;
  delete from event where time >= week_start and time < week_end;
  execute format('create table %I partition of event for values from (%L) to (%L)', name, week_start, week_end);
  execute format('alter table %I enable row level security, force row level security', name);
  insert into event select * from early;
end
$$;
