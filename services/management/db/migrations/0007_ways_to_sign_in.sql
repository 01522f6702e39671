CREATE TABLE "recovery_code" (
	"user_id" uuid NOT NULL,
	"code_hash" text NOT NULL,
	"spent_at" timestamp with time zone,
	CONSTRAINT "recovery_code_user_id_code_hash_pk" PRIMARY KEY("user_id","code_hash")
);
--> statement-breakpoint
CREATE TABLE "sign_in_challenge" (
	"challenge_hash" text PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "totp" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"secret" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"confirmed_at" timestamp with time zone,
	"codes_created_at" timestamp with time zone,
	"last_step" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "recovery_code" ADD CONSTRAINT "recovery_code_user_id_user_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sign_in_challenge" ADD CONSTRAINT "sign_in_challenge_user_id_user_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "totp" ADD CONSTRAINT "totp_user_id_user_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint

-- Users manage their own authenticator app. Who may set the password of a user may also remove the app.

alter table totp enable row level security, force row level security;
create policy visible on totp for select using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid or administers(user_id));
create policy made on totp for insert with check (
  (select current_setting('eyrie.scope', true)) = 'all'
  or user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid);
create policy changed on totp for update using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid);
create policy removed on totp for delete using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid or administers(user_id));

alter table recovery_code enable row level security, force row level security;
create policy visible on recovery_code for select using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid or administers(user_id));
create policy made on recovery_code for insert with check (
  (select current_setting('eyrie.scope', true)) = 'all'
  or user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid);
create policy changed on recovery_code for update using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid);
create policy removed on recovery_code for delete using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid or administers(user_id));

alter table sign_in_challenge enable row level security, force row level security;
create policy visible on sign_in_challenge for select using (
  (select current_setting('eyrie.scope', true)) = 'all');
create policy made on sign_in_challenge for insert with check (
  (select current_setting('eyrie.scope', true)) = 'all');
create policy changed on sign_in_challenge for update using (
  (select current_setting('eyrie.scope', true)) = 'all');
create policy removed on sign_in_challenge for delete using (
  (select current_setting('eyrie.scope', true)) = 'all');
--> statement-breakpoint

-- Every sign-in with a code changes last_step, which is not worth an entry.
create trigger audit after insert or delete or update of secret, confirmed_at, codes_created_at on totp
  for each row execute function write_audit('{user_id}', '{secret}');
-- The use of a code. The other changes of the codes come with a change of totp.
create trigger audit after update on recovery_code
  for each row execute function write_audit('{user_id}', '{code_hash}');
--> statement-breakpoint

-- Accounts at the identity provider

CREATE TABLE "user_identity" (
	"issuer" text NOT NULL,
	"subject" text NOT NULL,
	"user_id" uuid NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "user_identity_issuer_subject_pk" PRIMARY KEY("issuer","subject"),
	CONSTRAINT "user_identity_user_id_unique" UNIQUE("user_id")
);
--> statement-breakpoint
ALTER TABLE "user_identity" ADD CONSTRAINT "user_identity_user_id_user_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint

-- Only a sign-in writes identities.

alter table user_identity enable row level security, force row level security;
create policy visible on user_identity for select using (
  (select current_setting('eyrie.scope', true)) = 'all'
  or user_id = (select nullif(current_setting('eyrie.user', true), ''))::uuid or administers(user_id));
create policy made on user_identity for insert with check (
  (select current_setting('eyrie.scope', true)) = 'all');
create policy changed on user_identity for update using (
  (select current_setting('eyrie.scope', true)) = 'all');
create policy removed on user_identity for delete using (
  (select current_setting('eyrie.scope', true)) = 'all');
--> statement-breakpoint

create trigger audit after insert or update or delete on user_identity
  for each row execute function write_audit('{issuer,subject}', '{}');
