import { z } from 'zod'
import { shape } from './exports.ts'
import { id } from './ids.ts'
import { pipelineStatus } from './pipeline.ts'

/** Schemas of the endpoints that management serves to its own console. */

/** A channel on the live page, assembled by management from several engine responses. */
export const liveChannel = z.strictObject({
  id,
  source: z.strictObject({
    id,
    name: z.string(),
    /** Consecutive failed attempts to connect, while the source is lost. */
    attempts: z.int().optional(),
    /** Seconds until the next attempt to connect. */
    next_try_s: z.number().min(0).optional(),
  }),
  pipeline: z.strictObject({ id, elements: z.array(z.string()) }),
  usecase: z.string().nullable(),
  shapes: z.array(shape),
  stream: id.nullable(),
  /** Whether the source has audio. False until this is known. */
  sound: z.boolean(),
  status: pipelineStatus,
  reason: z.string().optional(),
  /** Analysed frames per second. */
  fps: z.number(),
  /** Milliseconds from decoded frame to output. */
  latency: z.number(),
})
export type LiveChannel = z.infer<typeof liveChannel>

/**
 * Response of `GET /session`: the user who is signed in to the console. The status is 503 while the database is
 * unreachable, unless live views are open to everybody.
 */
export const sessionStatus = z.object({
  /** Live views require no sign-in, because the console is opened on the machine itself. */
  open: z.boolean(),
  user: z.object({ email: z.string(), role: z.string().nullable() }).nullable(),
  /** The request carries a session that cannot be verified until the database is reachable. Retry later. */
  starting: z.literal(true).optional(),
})
export type SessionStatus = z.infer<typeof sessionStatus>

/** Request body of `POST /session`. */
export const credentials = z.strictObject({ email: z.string().max(4096), password: z.string().max(1024) })
