-- Events are moved from the default partition in batches, by services/management/events/partitions.ts.

drop function create_event_partition(timestamptz);
--> statement-breakpoint

-- Each batch finds its events by this index: the scan of a large partition would take longer than the batch.
create index event_other_by_time on event_other (time);
