CREATE TABLE "live_count" (
	"channel_id" uuid NOT NULL,
	"key" text NOT NULL,
	"day" date NOT NULL,
	"sum" double precision NOT NULL,
	"count" bigint NOT NULL,
	"last" double precision NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	"is_changed" boolean DEFAULT true NOT NULL,
	CONSTRAINT "live_count_channel_id_key_pk" PRIMARY KEY("channel_id","key")
);
--> statement-breakpoint
CREATE TABLE "live_message" (
	"message_key" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "live_message_message_key_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"position" bigint,
	"kind" text NOT NULL,
	"channel_id" uuid,
	"source_id" uuid,
	"engine_id" uuid,
	"site_ids" uuid[] DEFAULT '{}' NOT NULL,
	"data" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "live_message_by_position" UNIQUE("position")
);
--> statement-breakpoint
ALTER TABLE "live_count" ADD CONSTRAINT "live_count_channel_id_channel_channel_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channel"("channel_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "live_message_by_age" ON "live_message" USING btree ("created_at");--> statement-breakpoint

-- Positions of the live feed. They begin with the time in ms, so that those of a restored database are higher than all before.
create sequence live_message_position owned by live_message.position;
select setval('live_message_position', (extract(epoch from clock_timestamp()) * 1000)::bigint);
-- The newest message is never deleted: it marks the end of the feed.
insert into live_message (position, kind, data) values (nextval('live_message_position'), 'start', '{}');
--> statement-breakpoint

-- People read the feed through management, which filters it. These policies say the same.
alter table live_message enable row level security, force row level security;
create policy visible on live_message for select using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or channel_id in (select t.channel_id from channel t)
  or source_id in (select t.source_id from source t)
  or engine_id in (select t.engine_id from engine t));
create policy made on live_message for insert with check ((select current_setting('eyrie.scope', true)) = 'all');
create policy changed on live_message for update using ((select current_setting('eyrie.scope', true)) = 'all');
create policy removed on live_message for delete using ((select current_setting('eyrie.scope', true)) = 'all');

alter table live_count enable row level security, force row level security;
create policy visible on live_count for select using ((select current_setting('eyrie.scope', true)) = 'all');
create policy made on live_count for insert with check ((select current_setting('eyrie.scope', true)) = 'all');
create policy changed on live_count for update using ((select current_setting('eyrie.scope', true)) = 'all');
create policy removed on live_count for delete using ((select current_setting('eyrie.scope', true)) = 'all');

-- Both tables are small and change all the time.
alter table live_message set (autovacuum_vacuum_scale_factor = 0.05);
alter table live_count set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
--> statement-breakpoint

-- Assigns positions at the commit, one transaction after the other, so that they become visible in ascending order. No
-- transaction waits for a row while it holds this lock, so that there are no deadlocks.
create or replace function assign_live_message_position() returns trigger language plpgsql as $$
declare
  scope text := current_setting('eyrie.scope', true);
begin
  perform pg_advisory_xact_lock(hashtextextended('eyrie_feed', 0));
  perform set_config('eyrie.scope', 'all', true);
  update live_message set position = nextval('live_message_position') where message_key = new.message_key;
  perform set_config('eyrie.scope', coalesce(scope, ''), true);
  perform pg_notify('eyrie_feed', '');
  return null;
end
$$;
create constraint trigger position after insert on live_message deferrable initially deferred
  for each row execute function assign_live_message_position();
--> statement-breakpoint

-- Publishes a message about a channel, a source or an engine, or without any of them, for the scheduler only.
create or replace function publish_live_message(kind text, channel uuid, source uuid, engine uuid, data jsonb) returns void
language plpgsql as $$
declare
  scope text := current_setting('eyrie.scope', true);
begin
  perform set_config('eyrie.scope', 'all', true);
  insert into live_message (kind, channel_id, source_id, engine_id, site_ids, data) values ($1, $2, $3, $4, array(
    select t.site_id from channel t where t.channel_id = $2
    union select t.site_id from source t where t.source_id = $3
    union select t.site_id from engine_site t where t.engine_id = $4
    union select t.site_id from device t where t.engine_id = $4
  ), $5);
  perform set_config('eyrie.scope', coalesce(scope, ''), true);
end
$$;
--> statement-breakpoint

create or replace function publish_notification() returns trigger language plpgsql as $$
begin
  perform publish_live_message('notification', new.channel_id, null, null, jsonb_build_object(
    'notification_uuid', new.notification_uuid,
    'alert_id', new.alert_id,
    'alert_name', new.alert_name,
    'alert_priority', (select alert_priority from alert t where t.alert_id = new.alert_id),
    'usecase_key', new.usecase_key,
    'notification_time', to_char(new.notification_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'alert_threshold_key', new.threshold_key,
    'alert_threshold_condition', new.condition,
    'alert_threshold', new.threshold,
    'value', new.value));
  return null;
end
$$;
create trigger live_feed after insert on notification for each row execute function publish_notification();
--> statement-breakpoint

create or replace function publish_picture(shown notification) returns void language plpgsql as $$
begin
  perform publish_live_message('picture', shown.channel_id, null, null, jsonb_build_object(
    'notification_uuid', shown.notification_uuid,
    'alert_id', shown.alert_id,
    'notification_time', to_char(shown.notification_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'attachment', shown.picture,
    'picture_offset', shown.picture_offset,
    'image_url', '/api/v1/notification/image?channel_id=' || shown.channel_id
      || '&notification_uuid=' || shown.notification_uuid));
end
$$;

-- A notification gets a picture that is stored already.
create or replace function publish_assigned_picture() returns trigger language plpgsql as $$
begin
  if exists (select from picture t where t.sha256 = new.picture and t.fetched_at is not null) then
    perform publish_picture(new);
  end if;
  return null;
end
$$;
create trigger live_feed_picture after insert on notification
  for each row when (new.picture is not null) execute function publish_assigned_picture();
create trigger live_feed_picture_update after update of picture on notification
  for each row when (new.picture is distinct from old.picture and new.picture is not null)
  execute function publish_assigned_picture();

-- A picture arrives after the notifications that show it. A picture is at most a second away from its notification.
create or replace function publish_fetched_picture() returns trigger language plpgsql as $$
declare
  shown notification;
begin
  for shown in
    select n.* from channel c join notification n using (channel_id)
    where c.engine_id = new.engine_id and n.picture = new.sha256
      and n.notification_time between new.time - interval '1 minute' and new.time + interval '1 minute'
  loop
    perform publish_picture(shown);
  end loop;
  return null;
end
$$;
create trigger live_feed after update of fetched_at on picture
  for each row when (old.fetched_at is null and new.fetched_at is not null) execute function publish_fetched_picture();
--> statement-breakpoint

create or replace function publish_alert_state() returns trigger language plpgsql as $$
declare
  owner alert;
begin
  select * into owner from alert t where t.alert_id = new.alert_id;
  perform publish_live_message('alert_state', owner.channel_id, null, null, jsonb_build_object(
    'alert_id', new.alert_id, 'alert_name', owner.alert_name, 'is_firing', coalesce(new.holds, false)));
  return null;
end
$$;
create trigger live_feed after insert on alert_state
  for each row when (new.holds) execute function publish_alert_state();
create trigger live_feed_update after update of holds on alert_state
  for each row when (new.holds is distinct from old.holds) execute function publish_alert_state();
--> statement-breakpoint

-- Whether the engine receives data from the source of a channel; null if that is not known.
create or replace function is_source_connected(is_current boolean, status text) returns boolean language sql immutable as $$
  select case when not is_current then null when status = 'lost' then false
    when status in ('running', 'degraded') then true end
$$;

create or replace function publish_channel_state() returns trigger language plpgsql as $$
declare
  source_id uuid;
begin
  if tg_op = 'UPDATE' and (new.status, new.reason, new.is_heard) is not distinct from (old.status, old.reason, old.is_heard) then
    return null;
  end if;
  perform publish_live_message('channel_state', new.channel_id, null, null, jsonb_build_object(
    'status', new.status, 'reason', new.reason, 'is_current', new.is_heard,
    'is_active', new.is_heard and new.status in ('running', 'degraded')));
  if tg_op = 'UPDATE' and is_source_connected(new.is_heard, new.status)
    is not distinct from is_source_connected(old.is_heard, old.status) then
    return null;
  end if;
  select t.source_id into source_id from channel t where t.channel_id = new.channel_id;
  perform publish_live_message('source_state', null, source_id, null,
    jsonb_build_object('is_connected', is_source_connected(new.is_heard, new.status)));
  return null;
end
$$;
create trigger live_feed after insert or update of status, reason, is_heard on channel_state
  for each row execute function publish_channel_state();
--> statement-breakpoint

create or replace function publish_engine_state() returns trigger language plpgsql as $$
begin
  perform publish_live_message('engine_state', null, null, new.engine_id,
    jsonb_build_object('engine_status', new.engine_status, 'engine_reason', new.reason));
  return null;
end
$$;
create trigger live_feed after insert on engine_state
  for each row when (new.engine_status <> 0) execute function publish_engine_state();
create trigger live_feed_update after update of engine_status, reason on engine_state
  for each row when ((new.engine_status, new.reason) is distinct from (old.engine_status, old.reason))
  execute function publish_engine_state();
--> statement-breakpoint

-- The scheduler publishes names of records to other systems.
create or replace function publish_inventory() returns trigger language plpgsql as $$
begin
  perform publish_live_message('inventory', null, null, null, '{}');
  return null;
end
$$;
create trigger live_feed after insert or delete or update of channel_name, usecase_id, source_id on channel
  for each statement execute function publish_inventory();
create trigger live_feed after insert or delete or update of alert_name, is_active on alert
  for each statement execute function publish_inventory();
create trigger live_feed after update of device_name on device
  for each statement execute function publish_inventory();
