CREATE TABLE "incident" (
	"incident_id" uuid PRIMARY KEY NOT NULL,
	"channel_id" uuid NOT NULL,
	"alert_id" uuid,
	"alert_name" text NOT NULL,
	"alert_priority" text NOT NULL,
	"usecase_key" text NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"count" integer NOT NULL,
	"peak" double precision NOT NULL,
	"best_notification" uuid NOT NULL,
	"best_area" double precision NOT NULL,
	"notified_at" timestamp with time zone,
	"escalation_step" integer DEFAULT 0 NOT NULL,
	"escalates_at" timestamp with time zone,
	"acknowledged_at" timestamp with time zone,
	"acknowledged_by" text DEFAULT '' NOT NULL,
	"resolved_at" timestamp with time zone,
	"resolved_by" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "alert_policy" (
	"alert_id" uuid PRIMARY KEY NOT NULL,
	"channel_id" uuid NOT NULL,
	"release_threshold" double precision,
	"quiet_s" integer NOT NULL,
	"repeat_s" integer,
	"budget_per_hour" integer,
	"escalation" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "snooze" (
	"snooze_id" uuid PRIMARY KEY NOT NULL,
	"site_id" uuid NOT NULL,
	"channel_id" uuid,
	"alert_id" uuid,
	"until" timestamp with time zone,
	"reason" text DEFAULT '' NOT NULL,
	"created_by" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "snooze_scope" CHECK ("snooze"."alert_id" is null or "snooze"."channel_id" is not null)
);
--> statement-breakpoint
ALTER TABLE "delivery" DROP CONSTRAINT "delivery_state_values";--> statement-breakpoint
ALTER TABLE "alert_state" ADD COLUMN "released_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "notification" ADD COLUMN "incident_id" uuid;--> statement-breakpoint
ALTER TABLE "delivery" ADD COLUMN "kind" text DEFAULT 'notification' NOT NULL;--> statement-breakpoint
ALTER TABLE "delivery" ADD COLUMN "incident_id" uuid;--> statement-breakpoint
ALTER TABLE "delivery" ADD COLUMN "digest_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "incident" ADD CONSTRAINT "incident_channel_id_channel_channel_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channel"("channel_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "incident" ADD CONSTRAINT "incident_alert_id_alert_alert_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."alert"("alert_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alert_policy" ADD CONSTRAINT "alert_policy_alert" FOREIGN KEY ("alert_id","channel_id") REFERENCES "public"."alert"("alert_id","channel_id") ON DELETE cascade ON UPDATE cascade;--> statement-breakpoint
ALTER TABLE "snooze" ADD CONSTRAINT "snooze_site_id_site_site_id_fk" FOREIGN KEY ("site_id") REFERENCES "public"."site"("site_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snooze" ADD CONSTRAINT "snooze_channel_id_channel_channel_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channel"("channel_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snooze" ADD CONSTRAINT "snooze_alert_id_alert_alert_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."alert"("alert_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "incident_running" ON "incident" USING btree ("alert_id") WHERE "incident"."ended_at" is null;--> statement-breakpoint
CREATE INDEX "incident_by_channel" ON "incident" USING btree ("channel_id","started_at");--> statement-breakpoint
CREATE INDEX "incident_by_alert" ON "incident" USING btree ("alert_id","started_at");--> statement-breakpoint
CREATE INDEX "incident_by_time" ON "incident" USING btree ("started_at");--> statement-breakpoint
CREATE INDEX "incident_escalation_due" ON "incident" USING btree ("escalates_at") WHERE "incident"."escalates_at" is not null;--> statement-breakpoint
CREATE INDEX "snooze_by_site" ON "snooze" USING btree ("site_id");--> statement-breakpoint
ALTER TABLE "notification" ADD CONSTRAINT "notification_incident_id_incident_incident_id_fk" FOREIGN KEY ("incident_id") REFERENCES "public"."incident"("incident_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_incident_id_incident_incident_id_fk" FOREIGN KEY ("incident_id") REFERENCES "public"."incident"("incident_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "notification_by_incident" ON "notification" USING btree ("incident_id","notification_time");--> statement-breakpoint
CREATE INDEX "delivery_by_incident" ON "delivery" USING btree ("incident_id");--> statement-breakpoint
CREATE INDEX "delivery_by_receiver" ON "delivery" USING btree ("target","recipient","created_at") WHERE state <> 'suppressed';--> statement-breakpoint
CREATE INDEX "delivery_digest_due" ON "delivery" USING btree ("digest_at") WHERE digest_at is not null;--> statement-breakpoint
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_kind_values" CHECK ("delivery"."kind" in ('notification', 'escalation', 'digest', 'test', 'system_alert'));--> statement-breakpoint
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_state_values" CHECK ("delivery"."state" in ('queued', 'sent', 'delivered', 'failed', 'dead', 'suppressed'));--> statement-breakpoint

-- Earlier releases recognized tests by the missing notification. Digests have none either.
update delivery set kind = 'test' where notification_uuid is null;
--> statement-breakpoint

-- Incidents are visible with their channel. The appliance writes them; people acknowledge and resolve them.

alter table incident enable row level security, force row level security;

create policy visible on incident for select using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or channel_id in (select t.channel_id from channel t));

create policy made on incident for insert with check (
  (select current_setting('eyrie.scope', true)) = 'all');

create policy changed on incident for update using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from channel t where t.channel_id = incident.channel_id));

create policy removed on incident for delete using (
  (select current_setting('eyrie.scope', true)) = 'all');

-- Records what people do.
create trigger audit after update of acknowledged_at, resolved_at on incident
  for each row when (nullif(current_setting('eyrie.user', true), '') is not null)
  execute function write_audit('{incident_id}', '{}');
--> statement-breakpoint

-- A policy has the rights of its alert.

alter table alert_policy enable row level security, force row level security;

create policy visible on alert_policy for select using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from channel t where t.channel_id = alert_policy.channel_id));

create policy made on alert_policy for insert with check (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from channel t where t.channel_id = alert_policy.channel_id));

create policy changed on alert_policy for update using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from channel t where t.channel_id = alert_policy.channel_id));

create policy removed on alert_policy for delete using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from channel t where t.channel_id = alert_policy.channel_id));

create trigger audit after insert or update or delete on alert_policy
  for each row execute function write_audit('{alert_id}', '{escalation}');
--> statement-breakpoint

-- A snooze has the rights of its channel, or of its site if it covers all channels there.

alter table snooze enable row level security, force row level security;

create policy visible on snooze for select using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or case when channel_id is null
    then exists (select from site t where t.site_id = snooze.site_id)
    else exists (select from channel t where t.channel_id = snooze.channel_id) end);

create policy made on snooze for insert with check (
  (select current_setting('eyrie.scope', true)) = 'all'
  or case when channel_id is null
    then exists (select from site t where t.site_id = snooze.site_id)
    else exists (select from channel t where t.channel_id = snooze.channel_id) end);

create policy changed on snooze for update using (
  (select current_setting('eyrie.scope', true)) = 'all');

create policy removed on snooze for delete using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or case when channel_id is null
    then exists (select from site t where t.site_id = snooze.site_id)
    else exists (select from channel t where t.channel_id = snooze.channel_id) end);

create trigger audit after insert or delete on snooze
  for each row execute function write_audit('{snooze_id}', '{}');
--> statement-breakpoint

-- The engine of this appliance, whose recordings can be read through management. It reads the settings with all rights, because
-- most callers do not see them.
create or replace function local_engine_id() returns uuid language plpgsql stable as $$
declare
  scope text := current_setting('eyrie.scope', true);
  answer uuid;
begin
  perform set_config('eyrie.scope', 'all', true);
  select (value ->> 'engine_id')::uuid into answer from setting where name = 'local_engine';
  perform set_config('eyrie.scope', coalesce(scope, ''), true);
  return answer;
end
$$;
