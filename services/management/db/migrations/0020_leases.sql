CREATE TABLE "engine_request" (
	"request_id" uuid PRIMARY KEY NOT NULL,
	"engine_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"requested_at" timestamp with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp with time zone,
	"failure" text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "lease" (
	"subject" text PRIMARY KEY NOT NULL,
	"instance_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "management_instance" (
	"instance_id" uuid PRIMARY KEY NOT NULL,
	"host_name" text DEFAULT '' NOT NULL,
	"alive_until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "engine_state" ADD COLUMN "unusable_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "engine_state" ADD COLUMN "condition" jsonb;--> statement-breakpoint
ALTER TABLE "engine_state" ADD COLUMN "drift" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "engine_state" ADD COLUMN "drift_checked_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "engine_request" ADD CONSTRAINT "engine_request_engine_id_engine_engine_id_fk" FOREIGN KEY ("engine_id") REFERENCES "public"."engine"("engine_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "lease" ADD CONSTRAINT "lease_instance_id_management_instance_instance_id_fk" FOREIGN KEY ("instance_id") REFERENCES "public"."management_instance"("instance_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "engine_request_by_engine" ON "engine_request" USING btree ("engine_id");--> statement-breakpoint
CREATE INDEX "lease_by_instance" ON "lease" USING btree ("instance_id");--> statement-breakpoint

-- Only the appliance itself reads and writes these tables.

do $$
declare
  name text;
begin
  foreach name in array '{management_instance,lease,engine_request}'::text[] loop
    execute format('alter table %I enable row level security, force row level security', name);
    execute format(
      $policy$create policy visible on %I for select using ((select current_setting('eyrie.scope', true)) = 'all')$policy$, name);
    execute format(
      $policy$create policy made on %I for insert with check ((select current_setting('eyrie.scope', true)) = 'all')$policy$, name);
    execute format(
      $policy$create policy changed on %I for update using ((select current_setting('eyrie.scope', true)) = 'all')$policy$, name);
    execute format(
      $policy$create policy removed on %I for delete using ((select current_setting('eyrie.scope', true)) = 'all')$policy$, name);
  end loop;
end
$$;
