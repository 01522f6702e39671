CREATE TABLE "push_subscription" (
	"push_subscription_id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"endpoint" text NOT NULL,
	"p256dh" text NOT NULL,
	"auth" text NOT NULL,
	"label" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "unsubscribed" (
	"address" text PRIMARY KEY NOT NULL,
	"unsubscribed_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "delivery" DROP CONSTRAINT "delivery_type_values";--> statement-breakpoint
ALTER TABLE "delivery" ADD COLUMN "push_subscription_id" uuid;--> statement-breakpoint
ALTER TABLE "push_subscription" ADD CONSTRAINT "push_subscription_user_id_user_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "push_subscription_endpoint" ON "push_subscription" USING btree ("endpoint");--> statement-breakpoint
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_push_subscription" FOREIGN KEY ("push_subscription_id") REFERENCES "public"."push_subscription"("push_subscription_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "delivery_by_push_subscription" ON "delivery" USING btree ("push_subscription_id");--> statement-breakpoint
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_type_values" CHECK ("delivery"."type" in ('email', 'sms', 'webhook', 'mqtt', 'push'));--> statement-breakpoint

-- Users see and change the browsers that they have subscribed. The appliance sends to them.

alter table push_subscription enable row level security, force row level security;

create policy visible on push_subscription for select using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid);

create policy made on push_subscription for insert with check (
  (select current_setting('eyrie.scope', true)) = 'all'
  or user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid);

create policy changed on push_subscription for update using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid);

create policy removed on push_subscription for delete using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid);

create trigger audit after insert or update or delete on push_subscription
  for each row execute function write_audit('{push_subscription_id}', '{endpoint,p256dh,auth}');
--> statement-breakpoint

-- Addresses belong to no organization: the superadmin manages them.

alter table unsubscribed enable row level security, force row level security;

create policy visible on unsubscribed for select using ((select current_setting('eyrie.scope', true)) = 'all');
create policy made on unsubscribed for insert with check ((select current_setting('eyrie.scope', true)) = 'all');
create policy changed on unsubscribed for update using ((select current_setting('eyrie.scope', true)) = 'all');
create policy removed on unsubscribed for delete using ((select current_setting('eyrie.scope', true)) = 'all');

create trigger audit after insert or update or delete on unsubscribed
  for each row execute function write_audit('{address}', '{}');
