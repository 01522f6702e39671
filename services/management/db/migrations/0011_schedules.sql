CREATE TABLE "alert_arming" (
	"alert_id" uuid PRIMARY KEY NOT NULL,
	"is_armed" boolean NOT NULL,
	"schedule_ids" jsonb NOT NULL,
	"valid_from" timestamp with time zone NOT NULL,
	"valid_until" timestamp with time zone NOT NULL,
	"next_change_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "calendar" (
	"calendar_id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"site_id" uuid,
	"calendar_name" text NOT NULL,
	"calendar_ics" text NOT NULL,
	"calendar_events" jsonb NOT NULL,
	"events_until" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "schedule_exception" (
	"exception_id" uuid PRIMARY KEY NOT NULL,
	"schedule_id" uuid NOT NULL,
	"calendar_id" uuid NOT NULL,
	"exception_type" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "calendar_of_schedule" UNIQUE("schedule_id","calendar_id"),
	CONSTRAINT "exception_type_values" CHECK ("schedule_exception"."exception_type" in ('disarm', 'arm'))
);
--> statement-breakpoint
ALTER TABLE "alert_arming" ADD CONSTRAINT "alert_arming_alert_id_alert_alert_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."alert"("alert_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "calendar" ADD CONSTRAINT "calendar_organization_id_organization_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("organization_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "site" ADD CONSTRAINT "site_in_organization" UNIQUE("site_id","organization_id");--> statement-breakpoint
ALTER TABLE "calendar" ADD CONSTRAINT "calendar_site" FOREIGN KEY ("site_id","organization_id") REFERENCES "public"."site"("site_id","organization_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "schedule_exception" ADD CONSTRAINT "schedule_exception_schedule_id_schedule_schedule_id_fk" FOREIGN KEY ("schedule_id") REFERENCES "public"."schedule"("schedule_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "schedule_exception" ADD CONSTRAINT "schedule_exception_calendar_id_calendar_calendar_id_fk" FOREIGN KEY ("calendar_id") REFERENCES "public"."calendar"("calendar_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "calendar_by_organization" ON "calendar" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "calendar_by_site" ON "calendar" USING btree ("site_id");--> statement-breakpoint
CREATE INDEX "schedule_exception_by_calendar" ON "schedule_exception" USING btree ("calendar_id");--> statement-breakpoint
--> statement-breakpoint

-- A calendar of a site is visible with its site, a calendar of an organization with anything in the organization.

alter table calendar enable row level security, force row level security;

create policy visible on calendar for select using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or organization_id = any ((select caller_ids('organizations'))::uuid[])
  or (site_id is null and organization_id = any ((select caller_ids('memberships'))::uuid[]))
  or exists (select from site t where t.site_id = calendar.site_id));

create policy made on calendar for insert with check (
  (select current_setting('eyrie.scope', true)) = 'all'
  or organization_id = any ((select caller_ids('organizations'))::uuid[])
  or exists (select from site t where t.site_id = calendar.site_id));

create policy changed on calendar for update using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or organization_id = any ((select caller_ids('organizations'))::uuid[])
  or exists (select from site t where t.site_id = calendar.site_id));

create policy removed on calendar for delete using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or organization_id = any ((select caller_ids('organizations'))::uuid[])
  or exists (select from site t where t.site_id = calendar.site_id));

-- Exceptions and the armed state are visible with their schedule or alert. Only the appliance itself arms alerts.

alter table schedule_exception enable row level security, force row level security;

create policy visible on schedule_exception for select using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from schedule t where t.schedule_id = schedule_exception.schedule_id));

create policy made on schedule_exception for insert with check (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from schedule t where t.schedule_id = schedule_exception.schedule_id));

create policy changed on schedule_exception for update using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from schedule t where t.schedule_id = schedule_exception.schedule_id));

create policy removed on schedule_exception for delete using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from schedule t where t.schedule_id = schedule_exception.schedule_id));

alter table alert_arming enable row level security, force row level security;

create policy visible on alert_arming for select using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from alert t where t.alert_id = alert_arming.alert_id));

create policy made on alert_arming for insert with check (
  (select current_setting('eyrie.scope', true)) = 'all');

create policy changed on alert_arming for update using (
  (select current_setting('eyrie.scope', true)) = 'all');

create policy removed on alert_arming for delete using (
  (select current_setting('eyrie.scope', true)) = 'all');
--> statement-breakpoint

-- Finds the organization of an exception by its calendar.
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
    (select organization_id from "user" where user_id = (record ->> 'user_id')::uuid),
    (select organization_id from calendar where calendar_id = (record ->> 'calendar_id')::uuid)
  )
$$;

create trigger audit after insert or delete or update of calendar_name, calendar_ics on calendar
  for each row execute function write_audit('{calendar_id}', '{calendar_ics,calendar_events}');

create trigger audit after insert or update or delete on schedule_exception
  for each row execute function write_audit('{exception_id}', '{}');
--> statement-breakpoint

-- Deletes the armed states that depend on a changed record, and wakes the scheduler when the change commits.
create or replace function announce_schedules() returns trigger language plpgsql as $$
declare
  scope text := current_setting('eyrie.scope', true);
  record jsonb;
begin
  -- The caller may change the record, but not the armed state of alerts.
  perform set_config('eyrie.scope', 'all', true);
  foreach record in array array_remove(array[to_jsonb(old), to_jsonb(new)], null) loop
    delete from alert_arming where alert_id in (
      select s.alert_id from schedule s
      where case tg_table_name
        when 'schedule_exception' then s.schedule_id = (record ->> 'schedule_id')::uuid
        when 'calendar' then s.schedule_id in (
          select e.schedule_id from schedule_exception e where e.calendar_id = (record ->> 'calendar_id')::uuid)
        when 'channel' then s.channel_id = (record ->> 'channel_id')::uuid
        when 'site' then s.channel_id in (
          select c.channel_id from channel c where c.site_id = (record ->> 'site_id')::uuid)
      end
      union all
      select (record ->> 'alert_id')::uuid where tg_table_name = 'schedule');
  end loop;
  perform set_config('eyrie.scope', coalesce(scope, ''), true);
  perform pg_notify('eyrie_schedule', '');
  return null;
end
$$;

create trigger announce_schedules
  after insert or delete or update of alert_id, channel_id, schedule_type, schedule_occurrence, is_active on schedule
  for each row execute function announce_schedules();

create trigger announce_schedules after insert or update or delete on schedule_exception
  for each row execute function announce_schedules();

create trigger announce_schedules after update of calendar_events on calendar
  for each row execute function announce_schedules();

create trigger announce_schedules after update on channel
  for each row when (old.site_id is distinct from new.site_id) execute function announce_schedules();

create trigger announce_schedules after update on site
  for each row when (old.site_timezone is distinct from new.site_timezone) execute function announce_schedules();
