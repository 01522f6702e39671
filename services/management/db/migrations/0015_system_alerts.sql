CREATE TABLE "picture_reference" (
	"source_id" uuid PRIMARY KEY NOT NULL,
	"samples" integer NOT NULL,
	"sharpness" double precision NOT NULL,
	"edges" double precision[] NOT NULL
);
--> statement-breakpoint
CREATE TABLE "system_alert" (
	"system_alert_id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"subject_name" text NOT NULL,
	"engine_id" uuid,
	"source_id" uuid,
	"message" text NOT NULL,
	"began_at" timestamp with time zone NOT NULL,
	"opened_at" timestamp with time zone NOT NULL,
	"last_seen_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"interruptions" integer DEFAULT 0 NOT NULL,
	"notified_at" timestamp with time zone,
	"repeated_at" timestamp with time zone,
	"end_notified_at" timestamp with time zone,
	"acknowledged_at" timestamp with time zone,
	"acknowledged_by" uuid
);
--> statement-breakpoint
ALTER TABLE "delivery" ALTER COLUMN "channel_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "delivery" ADD COLUMN "system_alert_id" uuid;--> statement-breakpoint
ALTER TABLE "picture_reference" ADD CONSTRAINT "picture_reference_source_id_source_source_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."source"("source_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "system_alert" ADD CONSTRAINT "system_alert_engine_id_engine_engine_id_fk" FOREIGN KEY ("engine_id") REFERENCES "public"."engine"("engine_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "system_alert" ADD CONSTRAINT "system_alert_source_id_source_source_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."source"("source_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "system_alert" ADD CONSTRAINT "system_alert_acknowledged_by_user_user_id_fk" FOREIGN KEY ("acknowledged_by") REFERENCES "public"."user"("user_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "system_alert_open" ON "system_alert" USING btree ("kind","subject") WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX "system_alert_by_time" ON "system_alert" USING btree ("opened_at");--> statement-breakpoint
CREATE INDEX "system_alert_by_source" ON "system_alert" USING btree ("source_id","opened_at");--> statement-breakpoint
CREATE INDEX "system_alert_by_engine" ON "system_alert" USING btree ("engine_id","opened_at");--> statement-breakpoint
CREATE INDEX "system_alert_unreported" ON "system_alert" USING btree ("opened_at") WHERE end_notified_at is null;--> statement-breakpoint
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_system_alert_id_system_alert_system_alert_id_fk" FOREIGN KEY ("system_alert_id") REFERENCES "public"."system_alert"("system_alert_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "delivery_by_system_alert" ON "delivery" USING btree ("system_alert_id");--> statement-breakpoint

-- System alerts are visible with their camera or engine, those about the appliance only without restrictions. People only
-- acknowledge them.

alter table system_alert enable row level security, force row level security;

create policy visible on system_alert for select using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or source_id in (select t.source_id from source t)
  or (source_id is null and engine_id is not null and sees_engine(engine_id)));

create policy made on system_alert for insert with check (
  (select current_setting('eyrie.scope', true)) = 'all');

create policy changed on system_alert for update using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or source_id in (select t.source_id from source t)
  or (source_id is null and engine_id is not null and sees_engine(engine_id)));

create policy removed on system_alert for delete using (
  (select current_setting('eyrie.scope', true)) = 'all');

alter table picture_reference enable row level security, force row level security;

create policy visible on picture_reference for select using (
  (select current_setting('eyrie.scope', true)) = 'all');
create policy made on picture_reference for insert with check (
  (select current_setting('eyrie.scope', true)) = 'all');
create policy changed on picture_reference for update using (
  (select current_setting('eyrie.scope', true)) = 'all');
create policy removed on picture_reference for delete using (
  (select current_setting('eyrie.scope', true)) = 'all');
--> statement-breakpoint

-- Records who has acknowledged an alert.
create trigger audit after update of acknowledged_at on system_alert
  for each row when (nullif(current_setting('eyrie.user', true), '') is not null)
  execute function write_audit('{system_alert_id}', '{}');
