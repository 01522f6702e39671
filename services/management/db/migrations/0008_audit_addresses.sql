-- The audit log contains the address of the client that made a change, from the setting eyrie.address of its transaction.

ALTER TABLE "audit" ADD COLUMN "address" text DEFAULT '' NOT NULL;
--> statement-breakpoint

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
  insert into audit (user_id, actor, operation, address, record, record_id, change, before, after, organization_id) values (
    nullif(current_setting('eyrie.user', true), '')::uuid,
    coalesce(current_setting('eyrie.actor', true), ''),
    coalesce(current_setting('eyrie.operation', true), ''),
    coalesce(current_setting('eyrie.address', true), ''),
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
