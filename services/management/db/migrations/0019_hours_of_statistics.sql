CREATE TABLE "statistic_hour" (
	"channel_id" uuid NOT NULL,
	"key" text NOT NULL,
	"hour" timestamp with time zone NOT NULL,
	"sum" double precision NOT NULL,
	"count" bigint NOT NULL,
	"last" double precision NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	CONSTRAINT "statistic_hour_channel_id_key_hour_pk" PRIMARY KEY("channel_id","key","hour")
);
--> statement-breakpoint
CREATE INDEX "statistic_hour_by_age" ON "statistic_hour" USING btree ("hour");--> statement-breakpoint

alter table statistic_hour enable row level security, force row level security;

create policy visible on statistic_hour for select using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or channel_id in (select t.channel_id from channel t));
create policy made on statistic_hour for insert with check ((select current_setting('eyrie.scope', true)) = 'all');
create policy changed on statistic_hour for update using ((select current_setting('eyrie.scope', true)) = 'all');
create policy removed on statistic_hour for delete using ((select current_setting('eyrie.scope', true)) = 'all');
--> statement-breakpoint

-- The hours of the past, from their minutes.
insert into statistic_hour (channel_id, key, hour, sum, count, last, last_at)
select channel_id, key, date_bin(interval '1 hour', minute, timestamptz '1970-01-01 00:00:00+00'),
  sum(sum), sum(count), (array_agg(last order by last_at desc))[1], max(last_at)
from statistic_minute group by 1, 2, 3;
