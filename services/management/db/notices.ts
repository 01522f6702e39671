import type { ISql } from 'postgres'

/** The channel of Postgres's NOTIFY on which the ids of engines are told of which something stored has changed. */
export const FLEET_CHANNEL = 'eyrie_fleet'

interface Noticed {
  /** The engines that a row concerns; it is there as `record`. */
  engines: string
  /** Columns whose changes alone tell nobody: whoever makes them knows, or they mean nothing to an engine. */
  silent: readonly string[]
}

const own = "select record ->> 'engine_id'"

const tables: Record<string, Noticed> = {
  engine: { engines: own, silent: ['engine_updated_at', 'organization_id'] },
  device_stream: {
    engines: "select distinct engine_id::text from source where device_id = (record ->> 'device_id')::uuid",
    silent: ['resolution', 'uuid'],
  },
  source: { engines: own, silent: ['source_sid'] },
  pipeline: { engines: own, silent: ['pipeline_sid'] },
  channel: { engines: own, silent: ['channel_sid', 'channel_name', 'channel_favorite'] },
}

/** Has changes told when their transaction commits, so that no route can forget it. */
export async function applyNotices(sql: ISql): Promise<void> {
  await sql.unsafe(Object.entries(tables).map(noticeOf).join('\n')).simple()
}

function noticeOf([table, { engines, silent }]: [string, Noticed]): string {
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
        perform pg_notify('${FLEET_CHANNEL}', told.engine) from (${engines}) as told (engine);
      end loop;
      return null;
    end
    $$;
    create or replace trigger tell_fleet after insert or update or delete on "${table}"
      for each row execute function tell_fleet_of_${table}();`
}
