CREATE TABLE "job" (
	"name" text PRIMARY KEY NOT NULL,
	"next_run_at" timestamp with time zone,
	"requested_run_id" uuid,
	"run_id" uuid,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"lease_until" timestamp with time zone,
	"state" text,
	"message" text DEFAULT '' NOT NULL,
	"succeeded_at" timestamp with time zone,
	CONSTRAINT "job_state_values" CHECK ("job"."state" in ('running', 'succeeded', 'failed', 'skipped'))
);
--> statement-breakpoint

-- Jobs belong to the appliance, not to an organization: only the superadmin reads and requests them.

alter table job enable row level security, force row level security;

create policy visible on job for select using (
  (select current_setting('eyrie.scope', true)) = 'all');

create policy made on job for insert with check (
  (select current_setting('eyrie.scope', true)) = 'all');

create policy changed on job for update using (
  (select current_setting('eyrie.scope', true)) = 'all');

create policy removed on job for delete using (
  (select current_setting('eyrie.scope', true)) = 'all');
--> statement-breakpoint

-- Records who requests a run. The runs themselves are in the log.
create trigger audit after insert or update of requested_run_id on job
  for each row when (nullif(current_setting('eyrie.user', true), '') is not null)
  execute function write_audit('{name}', '{}');
