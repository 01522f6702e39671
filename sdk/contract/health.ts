import { z } from 'zod'
import { sourceState } from './media.ts'
import { pipelineStatus } from './pipeline.ts'

/** Response of `/health` of every service, served without authentication: 200 if `ok`, otherwise 503. */
export const health = z
  .looseObject({
    ok: z.boolean(),
    reason: z.string().optional().meta({ description: 'Why the service is not healthy' }),
    alarms: z.array(z.string()).default([]).meta({
      description:
        'Problems that a person must solve, each with what to do. A service can be healthy despite alarms',
    }),
  })
  .meta({ id: 'Health' })
export type Health = z.infer<typeof health>
/** Health as a service reports it: `alarms` may be omitted. */
export type HealthReport = z.input<typeof health>

/** Health of a started engine. */
export const engineHealth = health.extend({
  media: z.enum(['connected', 'not connected']),
  activated: z.boolean(),
  /** Number of channels by the status of their pipeline. */
  channels: z.partialRecord(pipelineStatus, z.int()),
  output: z.looseObject({
    newest: z.int().meta({ description: 'Sequence number of the newest message' }),
    followers: z.int(),
    storing: z.boolean().meta({ description: 'Whether durable messages are being written to disk' }),
  }),
})
export type EngineHealth = z.infer<typeof engineHealth>

/** State of live views over WebRTC. */
export const webrtcHealth = z.strictObject({
  state: z.enum(['off', 'missing', 'ready', 'running', 'failed']).meta({
    description:
      'off: disabled by the settings; missing: the worker executable is not installed; ready: the worker starts with the first viewer; running: the worker is running; failed: the worker exited and is being restarted',
  }),
  reason: z.string().optional().meta({ description: 'Why the worker is not running' }),
  viewers: z.int(),
})
export type WebRtcHealth = z.infer<typeof webrtcHealth>

/** Health of media. */
export const mediaHealth = health.extend({
  epoch: z.int(),
  /** Whether an engine is connected. */
  engine: z.boolean(),
  /** Number of sources by state. */
  sources: z.record(sourceState, z.int()),
  webrtc: webrtcHealth,
})
export type MediaHealth = z.infer<typeof mediaHealth>
