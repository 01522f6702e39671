ALTER TABLE "lease" ADD COLUMN "stored_until" timestamp with time zone;
