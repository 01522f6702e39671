ALTER TABLE "notification" ADD COLUMN "picture_offset" integer;--> statement-breakpoint
ALTER TABLE "notification" ADD COLUMN "bbox" jsonb;--> statement-breakpoint
ALTER TABLE "notification" ADD COLUMN "next_snapshot" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "event" ADD COLUMN "picture_offset" integer;--> statement-breakpoint
CREATE INDEX "notification_snapshot_due" ON "notification" USING btree ("next_snapshot") WHERE "notification"."next_snapshot" is not null;--> statement-breakpoint

-- The time zone of the site of a channel. A caller who sees a channel need not see its site.
create or replace function channel_timezone(asked uuid) returns text language plpgsql stable as $$
declare
  scope text := current_setting('eyrie.scope', true);
  answer text;
begin
  perform set_config('eyrie.scope', 'all', true);
  select s.site_timezone into answer from channel c join site s using (site_id) where c.channel_id = asked;
  perform set_config('eyrie.scope', coalesce(scope, ''), true);
  return answer;
end
$$;
