import type { ISql } from 'postgres'

/** The channel of Postgres's NOTIFY on which the ids of engines are told of which something stored has changed. */
export const FLEET_CHANNEL = 'eyrie_fleet'

/** How an engine follows from a row; changes of these columns alone tell nobody, since whoever made them knows. */
const tables: Record<string, { engine: string; silent: readonly string[] }> = {
  engine: {
    engine: "record ->> 'engine_id'",
    silent: ['engine_updated_at', 'engine_name', 'organization_id'],
  },
  device: { engine: "record ->> 'engine_id'", silent: ['transaction_id', 'device_value'] },
  device_stream: {
    engine:
      "(select s.engine_id::text from source s where s.device_id = (record ->> 'device_id')::uuid limit 1)",
    silent: [],
  },
  source: { engine: "record ->> 'engine_id'", silent: ['source_sid'] },
  pipeline: { engine: "record ->> 'engine_id'", silent: ['pipeline_sid', 'pipeline_name'] },
  channel: { engine: "record ->> 'engine_id'", silent: ['channel_sid', 'channel_name', 'channel_favorite'] },
}

/** Has changes told when their transaction commits, so that no route can forget it. */
export async function applyNotices(sql: ISql): Promise<void> {
  await sql.unsafe(Object.entries(tables).map(noticeOf).join('\n')).simple()
}

function noticeOf([table, { engine, silent }]: [string, (typeof tables)[string]]): string {
  return `
    create or replace function tell_fleet_of_${table}() returns trigger language plpgsql as $$
    declare
      silent text[] := '{${silent.join(',')}}';
      record jsonb;
    begin
      if to_jsonb(old) - silent = to_jsonb(new) - silent then
        return null;
      end if;
      foreach record in array array_remove(array[to_jsonb(old), to_jsonb(new)], null) loop
        perform pg_notify('${FLEET_CHANNEL}', coalesce(${engine}, ''));
      end loop;
      return null;
    end
    $$;
    create or replace trigger tell_fleet after insert or update or delete on "${table}"
      for each row execute function tell_fleet_of_${table}();`
}
