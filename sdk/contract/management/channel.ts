import { z } from 'zod'
import { integer, recordId } from './fields.ts'

/** A source analysed by a pipeline for a usecase, as every record that has channels shows it. */
export const sourceChannel = z
  .object({
    channel_id: recordId,
    channel_key: z.string(),
    channel_name: z.string(),
    channel_favorite: z.boolean(),
    /** Seconds over which an alert's statistic is taken. */
    channel_threshold_duration: integer,
    /** The id on the engine, in decimal; empty until it is there. */
    channel_sid: z.string(),
    /** It is running, as its engine last told. */
    is_active: z.boolean(),
    /** Source and pipeline on the engine were last found as they are stored here. */
    is_verified: z.boolean(),
    is_auto_recovery: z.boolean(),
    is_storage: z.boolean(),
    /** Null for a user who sees the channel alone. */
    device_id: recordId.nullable(),
    engine_id: recordId,
    pipeline_id: recordId,
    site_id: recordId,
    source_id: recordId,
    usecase_id: recordId,
    usecase_key: z.string(),
    usecase_name: z.string(),
    usecase_icon: z.string(),
    usecase_meta_key: z.array(z.string()),
  })
  .meta({ id: 'SourceChannel' })
export type SourceChannel = z.infer<typeof sourceChannel>
