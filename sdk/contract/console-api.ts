import { z } from 'zod'
import { shape } from './exports.ts'
import { id } from './ids.ts'
import { pipelineStatus } from './pipeline.ts'

/** Endpoints of the management service that only its web console uses. */

/**
 * A channel on the live page. The management service assembles it from several
 * responses of the engine.
 */
export const liveChannel = z.strictObject({
  id,
  source: z.strictObject({
    id,
    name: z.string(),
    /** Consecutive failed attempts to connect. Absent while the source is connected. */
    attempts: z.int().optional(),
    /** Seconds until the next attempt to connect. */
    next_try_s: z.number().min(0).optional(),
    /** Whether no video has ever arrived from the source since the media service started. */
    never_connected: z.boolean().optional(),
    /** Whether the source sends B-frames, which WebRTC cannot carry. */
    b_frames: z.boolean().optional(),
  }),
  pipeline: z.strictObject({ id, elements: z.array(z.string()) }),
  usecase: z.string().nullable(),
  shapes: z.array(shape),
  stream: id.nullable(),
  /** Whether the source is known to have audio. */
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
 * Response of `GET /session`: the user who is signed in to the console. While the database is
 * unreachable, the status is 503, unless the live page requires no sign-in.
 */
export const sessionStatus = z.object({
  /**
   * Whether the live page requires no sign-in, because the browser has opened a link on the
   * machine of the appliance.
   */
  open: z.boolean(),
  user: z.object({ email: z.string(), role: z.string().nullable() }).nullable(),
  /**
   * True if the session of the request cannot be verified yet, because the database is
   * unreachable. Retry later.
   */
  starting: z.literal(true).optional(),
  /** The identity provider with which users can sign in. Absent if there is none. */
  provider: z.object({ name: z.string() }).optional(),
  /** Why a sign-in with the identity provider failed, directly after it failed. */
  failure: z.string().optional(),
})
export type SessionStatus = z.infer<typeof sessionStatus>

/** Request body of `POST /session`. */
export const credentials = z.strictObject({
  email: z.string().max(4096),
  password: z.string().max(1024),
})
