ALTER TABLE "picture" DROP CONSTRAINT "picture_engine_id_engine_engine_id_fk";
