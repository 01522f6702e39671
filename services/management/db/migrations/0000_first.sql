CREATE TABLE "alert" (
	"alert_id" uuid PRIMARY KEY NOT NULL,
	"channel_id" uuid NOT NULL,
	"alert_name" text NOT NULL,
	"alert_priority" text NOT NULL,
	"alert_threshold" text NOT NULL,
	"alert_threshold_condition" text NOT NULL,
	"alert_threshold_key" text NOT NULL,
	"alert_frequency" integer NOT NULL,
	"alert_actions" jsonb NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "alert_on_channel" UNIQUE("alert_id","channel_id"),
	CONSTRAINT "alert_priority_values" CHECK ("alert"."alert_priority" in ('low', 'medium', 'high', 'critical')),
	CONSTRAINT "alert_threshold_condition_values" CHECK ("alert"."alert_threshold_condition" in ('gt', 'gte', 'lt', 'lte', 'eq', 'ne')),
	CONSTRAINT "alert_frequency_range" CHECK ("alert"."alert_frequency" between 0 and 86400)
);
--> statement-breakpoint
CREATE TABLE "alert_state" (
	"alert_id" uuid PRIMARY KEY NOT NULL,
	"fired_at" timestamp with time zone,
	"holds" boolean
);
--> statement-breakpoint
CREATE TABLE "notification" (
	"notification_uuid" uuid PRIMARY KEY NOT NULL,
	"channel_id" uuid NOT NULL,
	"alert_id" uuid,
	"usecase_key" text NOT NULL,
	"notification_time" timestamp with time zone NOT NULL,
	"notification_data" jsonb NOT NULL,
	"notification_extra" text DEFAULT '' NOT NULL,
	"alert_name" text NOT NULL,
	"condition" text NOT NULL,
	"threshold" text NOT NULL,
	"threshold_key" text NOT NULL,
	"value" double precision NOT NULL,
	"deliveries" jsonb NOT NULL,
	"epoch" bigint,
	"pts" bigint,
	"picture" text
);
--> statement-breakpoint
CREATE TABLE "schedule" (
	"schedule_id" uuid PRIMARY KEY NOT NULL,
	"alert_id" uuid NOT NULL,
	"channel_id" uuid NOT NULL,
	"schedule_name" text NOT NULL,
	"schedule_type" text NOT NULL,
	"schedule_occurrence" jsonb NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "schedule_type_values" CHECK ("schedule"."schedule_type" in ('cron', 'window'))
);
--> statement-breakpoint
CREATE TABLE "channel_state" (
	"channel_id" uuid PRIMARY KEY NOT NULL,
	"status" text DEFAULT 'unknown' NOT NULL,
	"is_heard" boolean DEFAULT false NOT NULL,
	"reason" text DEFAULT '' NOT NULL,
	"is_verified" boolean DEFAULT false NOT NULL,
	"heard_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "image" (
	"image_id" uuid PRIMARY KEY NOT NULL,
	"path" text NOT NULL,
	"type" text NOT NULL,
	"sha256" text NOT NULL,
	"bytes" integer NOT NULL,
	"organization_id" uuid,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "image_path_unique" UNIQUE("path")
);
--> statement-breakpoint
CREATE TABLE "setting" (
	"name" text PRIMARY KEY NOT NULL,
	"value" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ui_component" (
	"module_key" text NOT NULL,
	"component_key" integer NOT NULL,
	"component_name" text NOT NULL,
	"roles" text[] NOT NULL,
	"position" integer NOT NULL,
	CONSTRAINT "ui_component_module_key_component_key_pk" PRIMARY KEY("module_key","component_key")
);
--> statement-breakpoint
CREATE TABLE "ui_module" (
	"module_key" text PRIMARY KEY NOT NULL,
	"module_name" text NOT NULL,
	"module_path" text DEFAULT '' NOT NULL,
	"roles" text[] NOT NULL,
	"position" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "channel" (
	"channel_id" uuid PRIMARY KEY NOT NULL,
	"source_id" uuid NOT NULL,
	"pipeline_id" uuid NOT NULL,
	"engine_id" uuid NOT NULL,
	"site_id" uuid NOT NULL,
	"usecase_id" uuid NOT NULL,
	"channel_name" text NOT NULL,
	"channel_key" text DEFAULT '' NOT NULL,
	"channel_favorite" boolean DEFAULT false NOT NULL,
	"is_storage" boolean DEFAULT false NOT NULL,
	"is_auto_recovery" boolean DEFAULT false NOT NULL,
	"channel_threshold_duration" integer DEFAULT 60 NOT NULL,
	"channel_sid" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "channel_of_source_and_pipeline" UNIQUE("source_id","pipeline_id"),
	CONSTRAINT "channel_threshold_duration_range" CHECK ("channel"."channel_threshold_duration" between 1 and 86400)
);
--> statement-breakpoint
CREATE TABLE "device" (
	"device_id" uuid PRIMARY KEY NOT NULL,
	"site_id" uuid NOT NULL,
	"engine_id" uuid NOT NULL,
	"device_identifier" text NOT NULL,
	"device_name" text NOT NULL,
	"device_type" text NOT NULL,
	"device_uuid" text DEFAULT '' NOT NULL,
	"device_tags" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"device_value" text DEFAULT '' NOT NULL,
	"transaction_id" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "device_identifier_in_site" UNIQUE("site_id","device_identifier"),
	CONSTRAINT "device_at_site" UNIQUE("device_id","site_id")
);
--> statement-breakpoint
CREATE TABLE "device_stream" (
	"device_id" uuid NOT NULL,
	"id" integer NOT NULL,
	"address" text DEFAULT '' NOT NULL,
	"fps" jsonb,
	"password" text DEFAULT '' NOT NULL,
	"port" integer,
	"protocol" text DEFAULT '' NOT NULL,
	"resolution" jsonb,
	"type" text DEFAULT '' NOT NULL,
	"username" text DEFAULT '' NOT NULL,
	"uuid" text DEFAULT '' NOT NULL,
	CONSTRAINT "device_stream_device_id_id_pk" PRIMARY KEY("device_id","id")
);
--> statement-breakpoint
CREATE TABLE "pipeline" (
	"pipeline_id" uuid PRIMARY KEY NOT NULL,
	"engine_id" uuid NOT NULL,
	"organization_id" uuid,
	"pipeline_name" text NOT NULL,
	"pipeline_usecase" text NOT NULL,
	"pipeline_reference_key" integer NOT NULL,
	"pipeline_elements" jsonb NOT NULL,
	"pipeline_sid" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "pipeline_reference_key_on_engine" UNIQUE("engine_id","pipeline_reference_key"),
	CONSTRAINT "pipeline_on_engine" UNIQUE("pipeline_id","engine_id")
);
--> statement-breakpoint
CREATE TABLE "source" (
	"source_id" uuid PRIMARY KEY NOT NULL,
	"device_id" uuid NOT NULL,
	"site_id" uuid NOT NULL,
	"engine_id" uuid NOT NULL,
	"stream_id" integer NOT NULL,
	"source_name" text NOT NULL,
	"source_address" text DEFAULT '' NOT NULL,
	"source_fps" double precision,
	"source_type" text DEFAULT '' NOT NULL,
	"static_content" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"source_sid" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "source_at_site" UNIQUE("source_id","site_id"),
	CONSTRAINT "source_on_engine" UNIQUE("source_id","engine_id")
);
--> statement-breakpoint
CREATE TABLE "static_content" (
	"static_content_id" uuid PRIMARY KEY NOT NULL,
	"source_id" uuid NOT NULL,
	"id" integer NOT NULL,
	"static_content_name" text NOT NULL,
	"static_content_type" text NOT NULL,
	"static_content_data" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "static_content_id_of_source" UNIQUE("source_id","id")
);
--> statement-breakpoint
CREATE TABLE "usecase" (
	"usecase_id" uuid PRIMARY KEY NOT NULL,
	"usecase_key" text NOT NULL,
	"usecase_name" text NOT NULL,
	"usecase_desc" text DEFAULT '' NOT NULL,
	"usecase_icon" text DEFAULT '' NOT NULL,
	"usecase_background_color" text DEFAULT '' NOT NULL,
	"usecase_component_key" text DEFAULT '' NOT NULL,
	"usecase_meta_key" text[] DEFAULT '{}' NOT NULL,
	CONSTRAINT "usecase_usecase_key_unique" UNIQUE("usecase_key")
);
--> statement-breakpoint
CREATE TABLE "engine" (
	"engine_id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid,
	"engine_name" text NOT NULL,
	"engine_address" text NOT NULL,
	"engine_port" integer NOT NULL,
	"engine_is_secure" boolean NOT NULL,
	"engine_key" text DEFAULT '' NOT NULL,
	"engine_timeout" text NOT NULL,
	"engine_retry" jsonb NOT NULL,
	"engine_created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"engine_updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "engine_port_range" CHECK ("engine"."engine_port" between 1 and 65535)
);
--> statement-breakpoint
CREATE TABLE "engine_site" (
	"engine_id" uuid NOT NULL,
	"site_id" uuid NOT NULL,
	CONSTRAINT "engine_site_engine_id_site_id_pk" PRIMARY KEY("engine_id","site_id")
);
--> statement-breakpoint
CREATE TABLE "engine_state" (
	"engine_id" uuid PRIMARY KEY NOT NULL,
	"engine_status" smallint DEFAULT 0 NOT NULL,
	"engine_version" text DEFAULT '' NOT NULL,
	"engine_api_version" text DEFAULT '' NOT NULL,
	"engine_host_name" text DEFAULT '' NOT NULL,
	"engine_hash" text DEFAULT '' NOT NULL,
	"engine_routes" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"engine_catalog" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"engine_is_active" boolean DEFAULT false NOT NULL,
	"engine_uptime" double precision DEFAULT 0 NOT NULL,
	"reason" text DEFAULT '' NOT NULL,
	"seen_at" timestamp with time zone,
	"provisioned_log_id" text,
	"log_id" text,
	"seq" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "engine_status_values" CHECK ("engine_state"."engine_status" between 0 and 3)
);
--> statement-breakpoint
CREATE TABLE "engine_statistics" (
	"engine_id" uuid NOT NULL,
	"time" timestamp with time zone NOT NULL,
	"cpu" double precision NOT NULL,
	"mem_physical" double precision NOT NULL,
	"mem_virtual" double precision NOT NULL,
	CONSTRAINT "engine_statistics_engine_id_time_pk" PRIMARY KEY("engine_id","time")
);
--> statement-breakpoint
CREATE TABLE "channel_counter" (
	"channel_id" uuid NOT NULL,
	"name" text NOT NULL,
	"key" text NOT NULL,
	"value" double precision NOT NULL,
	"at" timestamp with time zone NOT NULL,
	CONSTRAINT "channel_counter_channel_id_name_key_pk" PRIMARY KEY("channel_id","name","key")
);
--> statement-breakpoint
CREATE TABLE "event" (
	"engine_id" uuid NOT NULL,
	"log_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"time" timestamp with time zone NOT NULL,
	"channel_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"type" text,
	"pts" bigint,
	"epoch" bigint,
	"data" jsonb NOT NULL,
	"statistics" jsonb,
	"picture" text,
	CONSTRAINT "event_engine_id_log_id_seq_time_pk" PRIMARY KEY("engine_id","log_id","seq","time"),
	CONSTRAINT "event_kind_values" CHECK ("event"."kind" in ('event', 'count', 'state'))
) PARTITION BY RANGE ("time");
--> statement-breakpoint
CREATE TABLE "event_other" PARTITION OF "event" DEFAULT;
--> statement-breakpoint
CREATE TABLE "picture" (
	"sha256" text PRIMARY KEY NOT NULL,
	"engine_id" uuid NOT NULL,
	"time" timestamp with time zone NOT NULL,
	"is_stored" boolean NOT NULL,
	"fetched_at" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_attempt" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "statistic_minute" (
	"channel_id" uuid NOT NULL,
	"key" text NOT NULL,
	"minute" timestamp with time zone NOT NULL,
	"sum" double precision NOT NULL,
	"count" bigint NOT NULL,
	"last" double precision NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	CONSTRAINT "statistic_minute_channel_id_key_minute_pk" PRIMARY KEY("channel_id","key","minute")
);
--> statement-breakpoint
CREATE TABLE "customer" (
	"customer_id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"customer_key" text NOT NULL,
	"customer_name" text NOT NULL,
	"customer_description" text DEFAULT '' NOT NULL,
	"customer_icon" text DEFAULT '' NOT NULL,
	"customer_type" text DEFAULT '' NOT NULL,
	"customer_contact" text[] DEFAULT '{}' NOT NULL,
	"customer_address" jsonb NOT NULL,
	"is_default" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "customer_key_in_organization" UNIQUE("organization_id","customer_key"),
	CONSTRAINT "customer_in_organization" UNIQUE("customer_id","organization_id")
);
--> statement-breakpoint
CREATE TABLE "organization" (
	"organization_id" uuid PRIMARY KEY NOT NULL,
	"organization_key" text NOT NULL,
	"organization_name" text NOT NULL,
	"organization_description" text NOT NULL,
	"organization_icon" text NOT NULL,
	"organization_website" text NOT NULL,
	"organization_address" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "organization_organization_key_unique" UNIQUE("organization_key")
);
--> statement-breakpoint
CREATE TABLE "site" (
	"site_id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"customer_id" uuid NOT NULL,
	"site_key" text NOT NULL,
	"site_name" text NOT NULL,
	"site_description" text DEFAULT '' NOT NULL,
	"site_icon" text DEFAULT '' NOT NULL,
	"site_image" text DEFAULT '' NOT NULL,
	"site_type" text DEFAULT '' NOT NULL,
	"site_address" jsonb NOT NULL,
	"site_timezone" text DEFAULT 'UTC' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "site_key_in_organization" UNIQUE("organization_id","site_key")
);
--> statement-breakpoint
CREATE TABLE "provision" (
	"engine_id" uuid NOT NULL,
	"record_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"sid" integer,
	"made_after" integer NOT NULL,
	"applied" text NOT NULL,
	CONSTRAINT "provision_engine_id_record_id_pk" PRIMARY KEY("engine_id","record_id"),
	CONSTRAINT "provision_kind_values" CHECK ("provision"."kind" in ('source', 'pipeline'))
);
--> statement-breakpoint
CREATE TABLE "api_token" (
	"token_id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"name" text NOT NULL,
	"scopes" text[] NOT NULL,
	"secret_hash" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"used_at" timestamp with time zone,
	"expires_at" timestamp with time zone,
	CONSTRAINT "api_token_secret_hash_unique" UNIQUE("secret_hash")
);
--> statement-breakpoint
CREATE TABLE "audit" (
	"audit_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"time" timestamp with time zone DEFAULT now() NOT NULL,
	"user_id" uuid,
	"actor" text DEFAULT '' NOT NULL,
	"operation" text DEFAULT '' NOT NULL,
	"record" text NOT NULL,
	"record_id" text NOT NULL,
	"change" text NOT NULL,
	"before" jsonb,
	"after" jsonb,
	"organization_id" uuid,
	CONSTRAINT "audit_change_values" CHECK ("audit"."change" in ('create', 'update', 'delete'))
);
--> statement-breakpoint
CREATE TABLE "role" (
	"role_id" uuid PRIMARY KEY NOT NULL,
	"role_key" text NOT NULL,
	"role_name" text NOT NULL,
	CONSTRAINT "role_role_key_unique" UNIQUE("role_key"),
	CONSTRAINT "role_key_values" CHECK ("role"."role_key" in ('superadmin', 'admin', 'manager', 'viewer'))
);
--> statement-breakpoint
CREATE TABLE "session" (
	"session_id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"family_hash" text NOT NULL,
	"refresh_hash" text NOT NULL,
	"address" text DEFAULT '' NOT NULL,
	"user_agent" text DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"used_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"revoked_at" timestamp with time zone,
	CONSTRAINT "session_family_hash_unique" UNIQUE("family_hash")
);
--> statement-breakpoint
CREATE TABLE "sign_in_failure" (
	"subject" text PRIMARY KEY NOT NULL,
	"failures" integer NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	"blocked_until" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "user" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"first_name" text NOT NULL,
	"last_name" text NOT NULL,
	"user_name" text NOT NULL,
	"avatar" text DEFAULT '' NOT NULL,
	"role_id" uuid,
	"role_wish" text DEFAULT '' NOT NULL,
	"organization_id" uuid,
	"is_active" boolean DEFAULT true NOT NULL,
	"is_verified" boolean DEFAULT false NOT NULL,
	"password_hash" text NOT NULL,
	"ui_config" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"last_logged_in_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "user_channel" (
	"user_id" uuid NOT NULL,
	"channel_id" uuid NOT NULL,
	CONSTRAINT "user_channel_user_id_channel_id_pk" PRIMARY KEY("user_id","channel_id")
);
--> statement-breakpoint
CREATE TABLE "user_customer" (
	"user_id" uuid NOT NULL,
	"customer_id" uuid NOT NULL,
	CONSTRAINT "user_customer_user_id_customer_id_pk" PRIMARY KEY("user_id","customer_id")
);
--> statement-breakpoint
CREATE TABLE "user_site" (
	"user_id" uuid NOT NULL,
	"site_id" uuid NOT NULL,
	CONSTRAINT "user_site_user_id_site_id_pk" PRIMARY KEY("user_id","site_id")
);
--> statement-breakpoint
CREATE TABLE "user_usecase" (
	"user_id" uuid NOT NULL,
	"usecase_id" uuid NOT NULL,
	CONSTRAINT "user_usecase_user_id_usecase_id_pk" PRIMARY KEY("user_id","usecase_id")
);
--> statement-breakpoint
ALTER TABLE "alert" ADD CONSTRAINT "alert_channel_id_channel_channel_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channel"("channel_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alert_state" ADD CONSTRAINT "alert_state_alert_id_alert_alert_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."alert"("alert_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notification" ADD CONSTRAINT "notification_channel_id_channel_channel_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channel"("channel_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notification" ADD CONSTRAINT "notification_alert_id_alert_alert_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."alert"("alert_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "schedule" ADD CONSTRAINT "schedule_channel_id_channel_channel_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channel"("channel_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "schedule" ADD CONSTRAINT "schedule_alert" FOREIGN KEY ("alert_id","channel_id") REFERENCES "public"."alert"("alert_id","channel_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel_state" ADD CONSTRAINT "channel_state_channel_id_channel_channel_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channel"("channel_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "image" ADD CONSTRAINT "image_organization_id_organization_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("organization_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ui_component" ADD CONSTRAINT "ui_component_module_key_ui_module_module_key_fk" FOREIGN KEY ("module_key") REFERENCES "public"."ui_module"("module_key") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel" ADD CONSTRAINT "channel_usecase_id_usecase_usecase_id_fk" FOREIGN KEY ("usecase_id") REFERENCES "public"."usecase"("usecase_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel" ADD CONSTRAINT "channel_source" FOREIGN KEY ("source_id","engine_id") REFERENCES "public"."source"("source_id","engine_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel" ADD CONSTRAINT "channel_site" FOREIGN KEY ("source_id","site_id") REFERENCES "public"."source"("source_id","site_id") ON DELETE no action ON UPDATE cascade;--> statement-breakpoint
ALTER TABLE "channel" ADD CONSTRAINT "channel_pipeline" FOREIGN KEY ("pipeline_id","engine_id") REFERENCES "public"."pipeline"("pipeline_id","engine_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "device" ADD CONSTRAINT "device_site_id_site_site_id_fk" FOREIGN KEY ("site_id") REFERENCES "public"."site"("site_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "device" ADD CONSTRAINT "device_engine_id_engine_engine_id_fk" FOREIGN KEY ("engine_id") REFERENCES "public"."engine"("engine_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "device_stream" ADD CONSTRAINT "device_stream_device_id_device_device_id_fk" FOREIGN KEY ("device_id") REFERENCES "public"."device"("device_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pipeline" ADD CONSTRAINT "pipeline_engine_id_engine_engine_id_fk" FOREIGN KEY ("engine_id") REFERENCES "public"."engine"("engine_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pipeline" ADD CONSTRAINT "pipeline_organization_id_organization_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("organization_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pipeline" ADD CONSTRAINT "pipeline_pipeline_usecase_usecase_usecase_key_fk" FOREIGN KEY ("pipeline_usecase") REFERENCES "public"."usecase"("usecase_key") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "source" ADD CONSTRAINT "source_engine_id_engine_engine_id_fk" FOREIGN KEY ("engine_id") REFERENCES "public"."engine"("engine_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "source" ADD CONSTRAINT "source_device" FOREIGN KEY ("device_id","site_id") REFERENCES "public"."device"("device_id","site_id") ON DELETE no action ON UPDATE cascade;--> statement-breakpoint
ALTER TABLE "source" ADD CONSTRAINT "source_stream" FOREIGN KEY ("device_id","stream_id") REFERENCES "public"."device_stream"("device_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "static_content" ADD CONSTRAINT "static_content_source_id_source_source_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."source"("source_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "engine" ADD CONSTRAINT "engine_organization_id_organization_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("organization_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "engine_site" ADD CONSTRAINT "engine_site_engine_id_engine_engine_id_fk" FOREIGN KEY ("engine_id") REFERENCES "public"."engine"("engine_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "engine_site" ADD CONSTRAINT "engine_site_site_id_site_site_id_fk" FOREIGN KEY ("site_id") REFERENCES "public"."site"("site_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "engine_state" ADD CONSTRAINT "engine_state_engine_id_engine_engine_id_fk" FOREIGN KEY ("engine_id") REFERENCES "public"."engine"("engine_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "engine_statistics" ADD CONSTRAINT "engine_statistics_engine_id_engine_engine_id_fk" FOREIGN KEY ("engine_id") REFERENCES "public"."engine"("engine_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel_counter" ADD CONSTRAINT "channel_counter_channel_id_channel_channel_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channel"("channel_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "picture" ADD CONSTRAINT "picture_engine_id_engine_engine_id_fk" FOREIGN KEY ("engine_id") REFERENCES "public"."engine"("engine_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "customer" ADD CONSTRAINT "customer_organization_id_organization_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("organization_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "site" ADD CONSTRAINT "site_organization_id_organization_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("organization_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "site" ADD CONSTRAINT "site_customer" FOREIGN KEY ("customer_id","organization_id") REFERENCES "public"."customer"("customer_id","organization_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provision" ADD CONSTRAINT "provision_engine_id_engine_engine_id_fk" FOREIGN KEY ("engine_id") REFERENCES "public"."engine"("engine_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_token" ADD CONSTRAINT "api_token_user_id_user_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "session" ADD CONSTRAINT "session_user_id_user_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user" ADD CONSTRAINT "user_role_id_role_role_id_fk" FOREIGN KEY ("role_id") REFERENCES "public"."role"("role_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user" ADD CONSTRAINT "user_organization_id_organization_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("organization_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_channel" ADD CONSTRAINT "user_channel_user_id_user_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_channel" ADD CONSTRAINT "user_channel_channel_id_channel_channel_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channel"("channel_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_customer" ADD CONSTRAINT "user_customer_user_id_user_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_customer" ADD CONSTRAINT "user_customer_customer_id_customer_customer_id_fk" FOREIGN KEY ("customer_id") REFERENCES "public"."customer"("customer_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_site" ADD CONSTRAINT "user_site_user_id_user_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_site" ADD CONSTRAINT "user_site_site_id_site_site_id_fk" FOREIGN KEY ("site_id") REFERENCES "public"."site"("site_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_usecase" ADD CONSTRAINT "user_usecase_user_id_user_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_usecase" ADD CONSTRAINT "user_usecase_usecase_id_usecase_usecase_id_fk" FOREIGN KEY ("usecase_id") REFERENCES "public"."usecase"("usecase_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "alert_by_channel" ON "alert" USING btree ("channel_id");--> statement-breakpoint
CREATE INDEX "notification_by_channel" ON "notification" USING btree ("channel_id","notification_time");--> statement-breakpoint
CREATE INDEX "notification_by_alert" ON "notification" USING btree ("alert_id","notification_time");--> statement-breakpoint
CREATE INDEX "schedule_by_channel" ON "schedule" USING btree ("channel_id");--> statement-breakpoint
CREATE INDEX "schedule_by_alert" ON "schedule" USING btree ("alert_id");--> statement-breakpoint
CREATE INDEX "channel_by_pipeline" ON "channel" USING btree ("pipeline_id");--> statement-breakpoint
CREATE INDEX "channel_by_site" ON "channel" USING btree ("site_id");--> statement-breakpoint
CREATE INDEX "channel_on_engine" ON "channel" USING btree ("engine_id","channel_sid");--> statement-breakpoint
CREATE INDEX "channel_by_usecase" ON "channel" USING btree ("usecase_id");--> statement-breakpoint
CREATE INDEX "device_by_engine" ON "device" USING btree ("engine_id");--> statement-breakpoint
CREATE INDEX "source_by_device" ON "source" USING btree ("device_id");--> statement-breakpoint
CREATE INDEX "source_by_engine" ON "source" USING btree ("engine_id");--> statement-breakpoint
CREATE INDEX "source_by_site" ON "source" USING btree ("site_id");--> statement-breakpoint
CREATE INDEX "engine_by_site" ON "engine_site" USING btree ("site_id");--> statement-breakpoint
CREATE INDEX "event_by_channel" ON "event" USING btree ("channel_id","time");--> statement-breakpoint
CREATE INDEX "picture_to_fetch" ON "picture" USING btree ("next_attempt");--> statement-breakpoint
CREATE INDEX "picture_by_age" ON "picture" USING btree ("time");--> statement-breakpoint
CREATE INDEX "statistic_minute_by_age" ON "statistic_minute" USING btree ("minute");--> statement-breakpoint
CREATE UNIQUE INDEX "one_default_customer" ON "customer" USING btree ("organization_id") WHERE is_default;--> statement-breakpoint
CREATE INDEX "site_by_customer" ON "site" USING btree ("customer_id");--> statement-breakpoint
CREATE INDEX "api_token_by_user" ON "api_token" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "audit_by_time" ON "audit" USING btree ("time");--> statement-breakpoint
CREATE INDEX "audit_by_record" ON "audit" USING btree ("record","record_id");--> statement-breakpoint
CREATE INDEX "session_by_user" ON "session" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "user_email" ON "user" USING btree (lower("email"));