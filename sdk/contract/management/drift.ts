import { z } from 'zod'
import { instant, recordId } from './fields.ts'

/** Where an engine is not as it is stored here. */
export const drift = z
  .object({
    record: z.enum(['source', 'pipeline']),
    record_id: recordId,
    name: z.string(),
    /** The id on the engine; null where it is not there. */
    sid: z.int().nullable(),
    /** The field that somebody has changed on the engine; empty where the engine takes the whole record not. */
    field: z.string(),
    /** Passwords are not shown. */
    stored: z.unknown(),
    found: z.unknown(),
    /** Why the engine does not take what is stored here; empty: it was changed there. */
    reason: z.string(),
  })
  .meta({ id: 'Drift' })
export type Drift = z.infer<typeof drift>

export const drifts = z.object({
  engine_id: recordId,
  /** Null: the engine has not been looked at since management was started. */
  checked_at: instant.nullable(),
  drift: z.array(drift),
})
