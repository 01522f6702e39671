-- A pipeline belongs to one organization, and is visible with its channels.

-- Existing pipelines without an organization belong to the one whose channel was connected first, or to the owner of the engine.
-- A pipeline that no channel uses remains without one, and only superadmins see it until a channel connects it.
update pipeline p set organization_id = coalesce(
    (select s.organization_id from channel c join site s using (site_id) where c.pipeline_id = p.pipeline_id
      order by c.created_at, c.channel_id limit 1),
    (select e.organization_id from engine e where e.engine_id = p.engine_id))
  where p.organization_id is null;
--> statement-breakpoint

-- Whether channels use a pipeline, including those that the caller does not see.
create or replace function is_connected(asked uuid) returns boolean language plpgsql stable as $$
declare
  scope text := current_setting('eyrie.scope', true);
  answer boolean;
begin
  perform set_config('eyrie.scope', 'all', true);
  select exists (select from channel where pipeline_id = asked) into answer;
  perform set_config('eyrie.scope', coalesce(scope, ''), true);
  return answer;
end
$$;

-- Whether the caller does not see all channels that use a pipeline.
create or replace function has_hidden_channels(asked uuid) returns boolean language plpgsql stable as $$
declare
  scope text := current_setting('eyrie.scope', true);
  visible bigint;
  existing bigint;
begin
  select count(*) into visible from channel where pipeline_id = asked;
  perform set_config('eyrie.scope', 'all', true);
  select count(*) into existing from channel where pipeline_id = asked;
  perform set_config('eyrie.scope', coalesce(scope, ''), true);
  return visible < existing;
end
$$;
--> statement-breakpoint

-- Managers also see unused pipelines of their organizations, to connect channels to them.
alter policy visible on pipeline using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from engine t where t.engine_id = pipeline.engine_id) and (
    organization_id = any ((select caller_ids('organizations'))::uuid[])
    or organization_id = any ((select caller_ids('memberships'))::uuid[]) and (
      exists (select from channel t where t.pipeline_id = pipeline.pipeline_id)
      or (select current_setting('eyrie.role', true)) = 'manager' and not is_connected(pipeline_id))));

alter policy made on pipeline with check (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from engine t where t.engine_id = pipeline.engine_id) and (
    organization_id = any ((select caller_ids('organizations'))::uuid[])
    or organization_id = any ((select caller_ids('memberships'))::uuid[])));

-- Changing a pipeline changes the analysis of all its channels.
alter policy changed on pipeline using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or organization_id = any ((select caller_ids('organizations'))::uuid[])
  or organization_id = any ((select caller_ids('memberships'))::uuid[]) and not has_hidden_channels(pipeline_id));

alter policy removed on pipeline using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or organization_id = any ((select caller_ids('organizations'))::uuid[])
  or organization_id = any ((select caller_ids('memberships'))::uuid[]) and not has_hidden_channels(pipeline_id));
