import type { ISql } from 'postgres'
import { audited } from './rights.ts'

/** Columns that change when somebody merely looks in: they make no entry. */
const moments = ['last_logged_in_at', 'used_at']

/** Has every change of the audited tables written down, in the transaction that makes it. */
export async function applyAudit(sql: ISql): Promise<void> {
  const tables = Object.keys(audited)
  const keys = await sql<{ name: string; columns: string[] }[]>`
    select relname as name, array_agg(attname order by array_position(indkey, attnum)) as columns
    from pg_index join pg_class on pg_class.oid = indrelid join pg_attribute on attrelid = indrelid and attnum = any (indkey)
    where indisprimary and relnamespace = 'public'::regnamespace and relname = any (${tables})
    group by relname, indrelid`
  const triggers = keys.map(({ name, columns }) => triggerOf(name, columns, audited[name] ?? []))
  await sql.unsafe([writer, ...triggers].join('\n')).simple()
}

function triggerOf(table: string, key: readonly string[], secrets: readonly string[]): string {
  const literal = (columns: readonly string[]) => `'{${columns.join(',')}}'`
  return `
    create or replace trigger audit after insert or update or delete on "${table}"
      for each row execute function write_audit(${literal(key)}, ${literal(secrets)});`
}

/**
 * Arguments: the columns of the primary key, and those that are shown as ***. Whose record it is follows from what it
 * refers to, since most have no organization of their own.
 */
const writer = `
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

  create or replace function write_audit() returns trigger language plpgsql as $$
  declare
    key_columns text[] := tg_argv[0];
    secret_columns text[] := tg_argv[1];
    moments text[] := '{${moments.join(',')}}';
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
  $$;`
