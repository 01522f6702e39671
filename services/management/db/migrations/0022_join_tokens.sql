CREATE TABLE "join_token" (
	"join_token_id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"secret_hash" text NOT NULL,
	"site_ids" uuid[] DEFAULT '{}' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone,
	"used_at" timestamp with time zone,
	CONSTRAINT "join_token_secret_hash_unique" UNIQUE("secret_hash")
);
--> statement-breakpoint
ALTER TABLE "engine" ADD COLUMN "identity_hash" text;--> statement-breakpoint
ALTER TABLE "engine" ADD CONSTRAINT "engine_identity_hash_unique" UNIQUE("identity_hash");--> statement-breakpoint

-- Join tokens are tokens of the installation: the superadmin manages them.

alter table join_token enable row level security, force row level security;
create policy visible on join_token for select using ((select current_setting('eyrie.scope', true)) = 'all');
create policy made on join_token for insert with check ((select current_setting('eyrie.scope', true)) = 'all');
create policy changed on join_token for update using ((select current_setting('eyrie.scope', true)) = 'all');
create policy removed on join_token for delete using ((select current_setting('eyrie.scope', true)) = 'all');

create trigger audit after insert or update or delete on join_token
  for each row execute function write_audit('{join_token_id}', '{secret_hash}');

create or replace trigger audit after insert or update or delete on engine
  for each row execute function write_audit('{engine_id}', '{engine_key,identity_hash}');
