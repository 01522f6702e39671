import { z } from 'zod'
import { shape } from './exports.ts'
import { id } from './ids.ts'
import { pipelineStatus } from './pipeline.ts'

/** A channel as the live page shows it, put together by management from what the engine tells in several answers. */
export const liveChannel = z.strictObject({
  id,
  source: z.strictObject({
    id,
    name: z.string(),
    /** Where it is lost: how often in a row it was tried in vain, and in how many seconds it is tried again. */
    attempts: z.int().optional(),
    next_try_s: z.number().min(0).optional(),
  }),
  pipeline: z.strictObject({ id, elements: z.array(z.string()) }),
  usecase: z.string().nullable(),
  shapes: z.array(shape),
  stream: id.nullable(),
  /** Whether its source sends sound, as far as is known. */
  sound: z.boolean(),
  status: pipelineStatus,
  reason: z.string().optional(),
  /** Analysed frames a second. */
  fps: z.number(),
  /** ms from decoded frame to output. */
  latency: z.number(),
})
export type LiveChannel = z.infer<typeof liveChannel>

/**
 * Answer of `GET /session`: who has signed in to the console in this browser. 503 where that cannot be told yet and nothing
 * is open to everybody.
 */
export const sessionStatus = z.object({
  /** Live views are to be seen without signing in, too: on the box itself. */
  open: z.boolean(),
  user: z.object({ email: z.string(), role: z.string().nullable() }).nullable(),
  /** A session was sent, and whose it is cannot be told before the database is there: ask again. */
  starting: z.literal(true).optional(),
})
export type SessionStatus = z.infer<typeof sessionStatus>

/** Body of `POST /session`. */
export const credentials = z.strictObject({ email: z.string().max(4096), password: z.string().max(1024) })
