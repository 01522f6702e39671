ALTER TABLE "source" ADD COLUMN "source_cores" double precision;
