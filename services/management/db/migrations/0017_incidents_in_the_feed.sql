-- Incidents and system alerts in the live feed.

-- Records store times with microseconds, the API has milliseconds.
create or replace function format_api_time(moment timestamptz) returns text language sql stable as $$
  select to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

create or replace function publish_incident() returns trigger language plpgsql as $$
begin
  perform publish_live_message('incident', new.channel_id, null, null, jsonb_build_object(
    'incident_id', new.incident_id,
    'incident_state', case
      when new.ended_at is not null or new.resolved_at is not null then 'resolved'
      when new.acknowledged_at is not null then 'acknowledged'
      else 'open' end,
    'incident_count', new.count,
    'alert_id', new.alert_id,
    'alert_name', new.alert_name,
    'alert_priority', new.alert_priority,
    'usecase_key', new.usecase_key,
    'started_at', format_api_time(new.started_at),
    'last_at', format_api_time(new.last_at),
    'ended_at', format_api_time(new.ended_at),
    'peak', new.peak,
    'notification_uuid', new.best_notification,
    'escalation_step', new.escalation_step,
    'acknowledged_at', format_api_time(new.acknowledged_at),
    'acknowledged_by', new.acknowledged_by,
    'resolved_at', format_api_time(new.resolved_at),
    'resolved_by', new.resolved_by));
  return null;
end
$$;
create trigger live_feed after insert on incident for each row execute function publish_incident();
create trigger live_feed_update after update on incident
  for each row when (
    (new.count, new.ended_at, new.escalation_step, new.acknowledged_at, new.resolved_at)
    is distinct from (old.count, old.ended_at, old.escalation_step, old.acknowledged_at, old.resolved_at))
  execute function publish_incident();
--> statement-breakpoint

-- An alert about a camera is about its source only, because not everyone who sees an engine sees all of its cameras.
create or replace function publish_system_alert() returns trigger language plpgsql as $$
begin
  perform publish_live_message('system_alert', null, new.source_id,
    case when new.source_id is null then new.engine_id end, jsonb_build_object(
    'system_alert_id', new.system_alert_id,
    'system_alert_kind', new.kind,
    'system_alert_state', case when new.ended_at is null then 'open' else 'closed' end,
    'system_alert_subject', new.subject_name,
    'system_alert_message', new.message,
    'began_at', format_api_time(new.began_at),
    'ended_at', format_api_time(new.ended_at),
    'acknowledged_at', format_api_time(new.acknowledged_at)));
  return null;
end
$$;
create trigger live_feed after insert on system_alert for each row execute function publish_system_alert();
create trigger live_feed_update after update of ended_at, acknowledged_at on system_alert
  for each row when ((new.ended_at, new.acknowledged_at) is distinct from (old.ended_at, old.acknowledged_at))
  execute function publish_system_alert();
