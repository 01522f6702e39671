CREATE TABLE "former_channel" (
	"engine_id" uuid NOT NULL,
	"log_id" text NOT NULL,
	"channel_sid" integer NOT NULL,
	"channel_id" uuid NOT NULL,
	"moved_at" timestamp with time zone NOT NULL,
	"succeeded_at" timestamp with time zone,
	CONSTRAINT "former_channel_engine_id_log_id_channel_sid_pk" PRIMARY KEY("engine_id","log_id","channel_sid")
);
--> statement-breakpoint
ALTER TABLE "channel" DROP CONSTRAINT "channel_source";
--> statement-breakpoint
ALTER TABLE "channel" DROP CONSTRAINT "channel_pipeline";
--> statement-breakpoint
ALTER TABLE "pipeline" DROP CONSTRAINT "pipeline_on_engine";--> statement-breakpoint
ALTER TABLE "channel_counter" DROP CONSTRAINT "channel_counter_channel_id_name_key_pk";--> statement-breakpoint
ALTER TABLE "pipeline" ADD COLUMN "pipeline_settings" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "source" ADD COLUMN "source_settings" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "source" ADD COLUMN "source_placement" text;--> statement-breakpoint
ALTER TABLE "channel_counter" ADD COLUMN "engine_id" uuid;--> statement-breakpoint
UPDATE "channel_counter" SET "engine_id" = (SELECT "engine_id" FROM "channel" WHERE "channel"."channel_id" = "channel_counter"."channel_id");--> statement-breakpoint
ALTER TABLE "channel_counter" ALTER COLUMN "engine_id" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "channel_counter" ADD CONSTRAINT "channel_counter_channel_id_engine_id_name_key_pk" PRIMARY KEY("channel_id","engine_id","name","key");--> statement-breakpoint
ALTER TABLE "site" ADD COLUMN "site_placement" text DEFAULT 'pinned' NOT NULL;--> statement-breakpoint
ALTER TABLE "site" ADD COLUMN "site_is_spread" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "former_channel" ADD CONSTRAINT "former_channel_engine_id_engine_engine_id_fk" FOREIGN KEY ("engine_id") REFERENCES "public"."engine"("engine_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "former_channel" ADD CONSTRAINT "former_channel_channel_id_channel_channel_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channel"("channel_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "former_channel_by_channel" ON "former_channel" USING btree ("channel_id");--> statement-breakpoint
ALTER TABLE "channel" ADD CONSTRAINT "channel_source" FOREIGN KEY ("source_id","engine_id") REFERENCES "public"."source"("source_id","engine_id") ON DELETE no action ON UPDATE cascade;--> statement-breakpoint
ALTER TABLE "channel" ADD CONSTRAINT "channel_pipeline" FOREIGN KEY ("pipeline_id") REFERENCES "public"."pipeline"("pipeline_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel_counter" ADD CONSTRAINT "channel_counter_engine_id_engine_engine_id_fk" FOREIGN KEY ("engine_id") REFERENCES "public"."engine"("engine_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "source" ADD CONSTRAINT "source_placement_values" CHECK ("source"."source_placement" in ('pinned', 'automatic'));--> statement-breakpoint
ALTER TABLE "site" ADD CONSTRAINT "site_placement_values" CHECK ("site"."site_placement" in ('pinned', 'automatic'));--> statement-breakpoint

-- Only the appliance itself reads and writes former channels.

alter table former_channel enable row level security, force row level security;
create policy visible on former_channel for select using ((select current_setting('eyrie.scope', true)) = 'all');
create policy made on former_channel for insert with check ((select current_setting('eyrie.scope', true)) = 'all');
create policy changed on former_channel for update using ((select current_setting('eyrie.scope', true)) = 'all');
create policy removed on former_channel for delete using ((select current_setting('eyrie.scope', true)) = 'all');
--> statement-breakpoint

-- As before, but a changed pipeline concerns all engines that run it.
create or replace function tell_fleet() returns trigger language plpgsql as $$
declare
  ignored text[] := tg_argv[0];
  scope text := current_setting('eyrie.scope', true);
  record jsonb;
begin
  if to_jsonb(old) - ignored = to_jsonb(new) - ignored then
    return null;
  end if;
  -- The caller may change the record, but not the state of channels.
  perform set_config('eyrie.scope', 'all', true);
  foreach record in array array_remove(array[to_jsonb(old), to_jsonb(new)], null) loop
    if tg_table_name = 'device_stream' then
      perform pg_notify('eyrie_fleet', s.engine_id::text) from (
        select distinct engine_id from source where device_id = (record ->> 'device_id')::uuid) as s;
      update channel_state set is_verified = false where is_verified and channel_id in (
        select c.channel_id from channel c join source s using (source_id)
        where s.device_id = (record ->> 'device_id')::uuid and s.stream_id = (record ->> 'id')::int);
      continue;
    end if;

    perform pg_notify('eyrie_fleet', record ->> 'engine_id');
    if tg_table_name = 'source' then
      update channel_state set is_verified = false where is_verified and channel_id in (
        select c.channel_id from channel c where c.source_id = (record ->> 'source_id')::uuid);
    elsif tg_table_name = 'pipeline' then
      perform pg_notify('eyrie_fleet', c.engine_id::text) from (
        select distinct engine_id from channel where pipeline_id = (record ->> 'pipeline_id')::uuid) as c;
      update channel_state set is_verified = false where is_verified and channel_id in (
        select c.channel_id from channel c where c.pipeline_id = (record ->> 'pipeline_id')::uuid);
    elsif tg_table_name = 'channel' then
      update channel_state set is_verified = false where is_verified and channel_id in (
        select c.channel_id from channel c where c.channel_id = (record ->> 'channel_id')::uuid);
    end if;
  end loop;
  perform set_config('eyrie.scope', coalesce(scope, ''), true);
  return null;
end
$$;

create or replace trigger tell_fleet after insert or update or delete on source
  for each row execute function tell_fleet(
    '{source_sid,source_name,source_settings,source_placement,static_content,site_id}');
create or replace trigger tell_fleet after insert or update or delete on pipeline
  for each row execute function tell_fleet(
    '{pipeline_sid,pipeline_name,pipeline_settings,pipeline_reference_key,organization_id}');
