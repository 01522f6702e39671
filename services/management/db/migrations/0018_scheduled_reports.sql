CREATE TABLE "report" (
	"report_id" uuid PRIMARY KEY NOT NULL,
	"report_schedule_id" uuid NOT NULL,
	"content" "bytea" NOT NULL,
	"media_type" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "report_schedule" (
	"report_schedule_id" uuid PRIMARY KEY NOT NULL,
	"site_id" uuid NOT NULL,
	"report_name" text NOT NULL,
	"report_every" text NOT NULL,
	"report_time" text NOT NULL,
	"report_to" jsonb NOT NULL,
	"report_format" text NOT NULL,
	"report_interval" text NOT NULL,
	"report_comparison" boolean NOT NULL,
	"channel_ids" jsonb NOT NULL,
	"usecase_keys" jsonb NOT NULL,
	"usecase_meta_key" jsonb NOT NULL,
	"is_active" boolean NOT NULL,
	"user_id" uuid,
	"saved_by" text NOT NULL,
	"saved_at" timestamp with time zone NOT NULL,
	"last_day" date NOT NULL,
	"report_problem" text DEFAULT '' NOT NULL,
	CONSTRAINT "report_schedule_every_values" CHECK ("report_schedule"."report_every" in ('day', 'week', 'month')),
	CONSTRAINT "report_schedule_format_values" CHECK ("report_schedule"."report_format" in ('csv', 'xlsx', 'pdf')),
	CONSTRAINT "report_schedule_interval_values" CHECK ("report_schedule"."report_interval" in ('day', 'week', 'month'))
);
--> statement-breakpoint
ALTER TABLE "delivery" DROP CONSTRAINT "delivery_kind_values";--> statement-breakpoint
ALTER TABLE "delivery" ADD COLUMN "report_schedule_id" uuid;--> statement-breakpoint
ALTER TABLE "delivery" ADD COLUMN "report_id" uuid;--> statement-breakpoint
ALTER TABLE "report" ADD CONSTRAINT "report_schedule_of_report" FOREIGN KEY ("report_schedule_id") REFERENCES "public"."report_schedule"("report_schedule_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "report_schedule" ADD CONSTRAINT "report_schedule_site_id_site_site_id_fk" FOREIGN KEY ("site_id") REFERENCES "public"."site"("site_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "report_schedule" ADD CONSTRAINT "report_schedule_user_id_user_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("user_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "report_by_schedule" ON "report" USING btree ("report_schedule_id");--> statement-breakpoint
CREATE INDEX "report_by_age" ON "report" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "report_schedule_by_site" ON "report_schedule" USING btree ("site_id");--> statement-breakpoint
CREATE INDEX "report_schedule_by_user" ON "report_schedule" USING btree ("user_id");--> statement-breakpoint
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_report_id_report_report_id_fk" FOREIGN KEY ("report_id") REFERENCES "public"."report"("report_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_report_schedule" FOREIGN KEY ("report_schedule_id") REFERENCES "public"."report_schedule"("report_schedule_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "delivery_by_report_schedule" ON "delivery" USING btree ("report_schedule_id","created_at");--> statement-breakpoint
CREATE INDEX "delivery_by_report" ON "delivery" USING btree ("report_id");--> statement-breakpoint
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_kind_values" CHECK ("delivery"."kind" in ('notification', 'escalation', 'digest', 'test', 'system_alert', 'report'));--> statement-breakpoint

-- A scheduled report has the rights of its site.

alter table report_schedule enable row level security, force row level security;

create policy visible on report_schedule for select using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or site_id in (select t.site_id from site t));

create policy made on report_schedule for insert with check (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from site t where t.site_id = report_schedule.site_id));

create policy changed on report_schedule for update using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from site t where t.site_id = report_schedule.site_id));

create policy removed on report_schedule for delete using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from site t where t.site_id = report_schedule.site_id));

-- Records what people do. The appliance stores in the schedule what it has sent.
create trigger audit after insert or update or delete on report_schedule
  for each row when (nullif(current_setting('eyrie.user', true), '') is not null)
  execute function write_audit('{report_schedule_id}', '{}');
--> statement-breakpoint

-- The files contain what the person may see who saved the schedule: only the appliance reads them.

alter table report enable row level security, force row level security;

create policy visible on report for select using ((select current_setting('eyrie.scope', true)) = 'all');
create policy made on report for insert with check ((select current_setting('eyrie.scope', true)) = 'all');
create policy changed on report for update using ((select current_setting('eyrie.scope', true)) = 'all');
create policy removed on report for delete using ((select current_setting('eyrie.scope', true)) = 'all');
--> statement-breakpoint

-- The messages of a scheduled report are visible with it, and can be sent again.

drop policy visible on delivery;
create policy visible on delivery for select using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or channel_id in (select t.channel_id from channel t)
  or report_schedule_id in (select t.report_schedule_id from report_schedule t));

drop policy changed on delivery;
create policy changed on delivery for update using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from channel t where t.channel_id = delivery.channel_id)
  or exists (select from report_schedule t where t.report_schedule_id = delivery.report_schedule_id));
