CREATE TABLE "delivery" (
	"delivery_id" uuid PRIMARY KEY NOT NULL,
	"notification_uuid" uuid,
	"alert_id" uuid,
	"channel_id" uuid NOT NULL,
	"type" text NOT NULL,
	"target" text NOT NULL,
	"recipient" text NOT NULL,
	"request" jsonb NOT NULL,
	"state" text DEFAULT 'queued' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"reason" text DEFAULT '' NOT NULL,
	"awaits_picture" boolean DEFAULT false NOT NULL,
	"next_attempt_at" timestamp with time zone,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp with time zone,
	CONSTRAINT "delivery_type_values" CHECK ("delivery"."type" in ('email', 'sms', 'webhook', 'mqtt')),
	CONSTRAINT "delivery_state_values" CHECK ("delivery"."state" in ('queued', 'sent', 'delivered', 'failed', 'dead'))
);
--> statement-breakpoint
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_notification_uuid_notification_notification_uuid_fk" FOREIGN KEY ("notification_uuid") REFERENCES "public"."notification"("notification_uuid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_alert_id_alert_alert_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."alert"("alert_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_channel_id_channel_channel_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channel"("channel_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "delivery_waiting" ON "delivery" USING btree ("target","next_attempt_at") WHERE next_attempt_at is not null;--> statement-breakpoint
CREATE INDEX "delivery_due" ON "delivery" USING btree ("next_attempt_at") WHERE next_attempt_at is not null;--> statement-breakpoint
CREATE INDEX "delivery_by_channel" ON "delivery" USING btree ("channel_id","created_at");--> statement-breakpoint
CREATE INDEX "delivery_by_notification" ON "delivery" USING btree ("notification_uuid");--> statement-breakpoint
CREATE INDEX "delivery_by_alert" ON "delivery" USING btree ("alert_id");--> statement-breakpoint
CREATE INDEX "delivery_by_age" ON "delivery" USING btree ("created_at");--> statement-breakpoint

-- Deliveries are visible with their channel. The scheduler works without restrictions; people only test and send again.

alter table delivery enable row level security, force row level security;

create policy visible on delivery for select using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or channel_id in (select t.channel_id from channel t));

create policy made on delivery for insert with check (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from channel t where t.channel_id = delivery.channel_id));

create policy changed on delivery for update using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or exists (select from channel t where t.channel_id = delivery.channel_id));

create policy removed on delivery for delete using (
  (select current_setting('eyrie.scope', true)) = 'all');
--> statement-breakpoint

-- Records what people do. The attempts of the scheduler are in the delivery itself.
create trigger audit after insert or update of state on delivery
  for each row when (nullif(current_setting('eyrie.user', true), '') is not null)
  execute function write_audit('{delivery_id}', '{request}');
