import type { ISql } from 'postgres'

/** The channel of Postgres's NOTIFY on which the ids of engines are told of which something stored has changed. */
export const FLEET_CHANNEL = 'eyrie_fleet'

interface Noticed {
  /** The engines that a row concerns; it is there as `record`. */
  engines: string
  /** Whether a channel `c` is made of it, and so is not on its engine as it is stored now. */
  channels: string
  /** Columns whose changes alone tell nobody: whoever makes them knows, or they mean nothing to an engine. */
  silent: readonly string[]
}

const own = "select record ->> 'engine_id'"

const tables: Record<string, Noticed> = {
  // Where it is says nothing of what is on it.
  engine: { engines: own, channels: 'false', silent: ['engine_updated_at', 'organization_id'] },
  device_stream: {
    engines: "select distinct engine_id::text from source where device_id = (record ->> 'device_id')::uuid",
    channels: `c.source_id in (select source_id from source
      where device_id = (record ->> 'device_id')::uuid and stream_id = (record ->> 'id')::int)`,
    silent: ['resolution', 'uuid'],
  },
  source: {
    engines: own,
    channels: "c.source_id = (record ->> 'source_id')::uuid",
    silent: ['source_sid', 'source_name', 'static_content', 'site_id'],
  },
  pipeline: {
    engines: own,
    channels: "c.pipeline_id = (record ->> 'pipeline_id')::uuid",
    silent: ['pipeline_sid', 'pipeline_name', 'pipeline_reference_key', 'organization_id'],
  },
  channel: {
    engines: own,
    channels: "c.channel_id = (record ->> 'channel_id')::uuid",
    silent: [
      ...['channel_sid', 'channel_key', 'channel_name', 'channel_favorite', 'channel_threshold_duration'],
      ...['is_storage', 'is_auto_recovery', 'usecase_id', 'site_id'],
    ],
  },
}

/**
 * Has changes told when their transaction commits, and takes back that channels are verified, so that no route can forget
 * it.
 */
export async function applyNotices(sql: ISql): Promise<void> {
  await sql.unsafe(Object.entries(tables).map(noticeOf).join('\n')).simple()
}

function noticeOf([table, { engines, channels, silent }]: [string, Noticed]): string {
  return `
    create or replace function tell_fleet_of_${table}() returns trigger language plpgsql as $$
    declare
      silent text[] := '{${silent.join(',')}}';
      scope text := current_setting('eyrie.scope', true);
      record jsonb;
    begin
      if to_jsonb(old) - silent = to_jsonb(new) - silent then
        return null;
      end if;
      foreach record in array array_remove(array[to_jsonb(old), to_jsonb(new)], null) loop
        perform pg_notify('${FLEET_CHANNEL}', told.engine) from (${engines}) as told (engine);
        -- Who changes a record does not change how channels are.
        perform set_config('eyrie.scope', 'all', true);
        update channel_state set is_verified = false
          where is_verified and channel_id in (select c.channel_id from channel c where ${channels});
        perform set_config('eyrie.scope', coalesce(scope, ''), true);
      end loop;
      return null;
    end
    $$;
    create or replace trigger tell_fleet after insert or update or delete on "${table}"
      for each row execute function tell_fleet_of_${table}();`
}
