-- A change of a sub stream concerns the channels of its source, as in 0005. The function in 0021 omitted this.

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
        where s.device_id = (record ->> 'device_id')::uuid and (record ->> 'id')::int in (s.stream_id, s.sub_stream_id));
      continue;
    end if;

    perform pg_notify('eyrie_fleet', record ->> 'engine_id');
    if tg_table_name = 'source' then
      update channel_state set is_verified = false where is_verified and channel_id in (
        select c.channel_id from channel c where c.source_id = (record ->> 'source_id')::uuid);
    elsif tg_table_name = 'pipeline' then
      perform pg_notify('eyrie_fleet', c.engine_id::text) from (
        select distinct engine_id from channel where pipeline_id = (record ->> 'pipeline_id')::uuid) as c;
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
