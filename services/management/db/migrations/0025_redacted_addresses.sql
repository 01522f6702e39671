-- The audit log shows the addresses of sources and streams with *** instead of passwords and tokens.

-- As redactStoredAddress (inventory/stored-addresses.ts) does in responses. The scheme is optional: a stream has a protocol.
create or replace function redact_address(address text) returns text language sql immutable as $$
  select regexp_replace(
    regexp_replace(address, '^(\s*(?:[a-z][a-z0-9+.-]*://)?[^/?#:@]*:)[^/?#]*@', '\1***@', 'i'),
    '([?&][^=&#]*(?:pass|pwd|token|secret|ticket|auth|signature|api_?key)[^=&#]*)=[^&#]*', '\1=***', 'gi')
$$;
--> statement-breakpoint

-- Arguments: the columns of the primary key, the columns whose values are recorded as ***, and the columns with
-- addresses, which may be omitted.
create or replace function write_audit() returns trigger language plpgsql as $$
declare
  key_columns text[] := tg_argv[0];
  secret_columns text[] := tg_argv[1];
  address_columns text[] := coalesce(tg_argv[2], '{}');
  -- Changes of these columns alone are not recorded.
  moments text[] := '{last_logged_in_at,used_at}';
  earlier jsonb := to_jsonb(old);
  later jsonb := to_jsonb(new);
  record jsonb := coalesce(later, earlier);
  name text;
begin
  if earlier - moments = later - moments then
    return null;
  end if;
  foreach name in array secret_columns loop
    earlier := case when earlier -> name <> 'null' then earlier || jsonb_build_object(name, '***') else earlier end;
    later := case when later -> name <> 'null' then later || jsonb_build_object(name, '***') else later end;
  end loop;
  foreach name in array address_columns loop
    earlier := earlier || jsonb_build_object(name, redact_address(earlier ->> name));
    later := later || jsonb_build_object(name, redact_address(later ->> name));
  end loop;
  insert into audit (user_id, actor, operation, address, record, record_id, change, before, after, organization_id) values (
    nullif(current_setting('eyrie.user', true), '')::uuid,
    coalesce(current_setting('eyrie.actor', true), ''),
    coalesce(current_setting('eyrie.operation', true), ''),
    coalesce(current_setting('eyrie.address', true), ''),
    tg_table_name,
    (select string_agg(record ->> key, ',' order by place) from unnest(key_columns) with ordinality as k (key, place)),
    case tg_op when 'INSERT' then 'create' when 'UPDATE' then 'update' else 'delete' end,
    earlier,
    later,
    organization_of(record)
  );
  return null;
end
$$;

create or replace trigger audit after insert or update or delete on device_stream
  for each row execute function write_audit('{device_id,id}', '{password}', '{address}');
create or replace trigger audit after insert or update or delete on source
  for each row execute function write_audit('{source_id}', '{}', '{source_address}');
--> statement-breakpoint

update audit set
  before = before || jsonb_build_object('address', redact_address(before ->> 'address')),
  after = after || jsonb_build_object('address', redact_address(after ->> 'address'))
where record = 'device_stream';
--> statement-breakpoint

update audit set
  before = before || jsonb_build_object('source_address', redact_address(before ->> 'source_address')),
  after = after || jsonb_build_object('source_address', redact_address(after ->> 'source_address'))
where record = 'source';
