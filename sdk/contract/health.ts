import { z } from 'zod'
import { sourceState } from './media.ts'
import { pipelineStatus } from './pipeline.ts'

/**
 * What `/health` of every service answers, without a token: 200 where `ok`, else 503 with the reason. `alarms` are what a
 * person has to do something about, each with what to do, even where the service still does its work.
 */
export const health = z
  .looseObject({
    ok: z.boolean(),
    reason: z.string().optional(),
    alarms: z.array(z.string()).default([]),
  })
  .meta({ id: 'Health' })
export type Health = z.infer<typeof health>
/** As a service tells it: without alarms there are none. */
export type HealthReport = z.input<typeof health>

/** What the engine says besides when it has started: `channels` counts them by the status of their pipelines. */
export const engineHealth = health.extend({
  media: z.enum(['connected', 'not connected']),
  activated: z.boolean(),
  channels: z.partialRecord(pipelineStatus, z.int()),
  output: z.looseObject({
    newest: z.int().meta({ description: 'Number of the newest message' }),
    followers: z.int(),
    storing: z.boolean().meta({ description: 'Whether the disk takes durable messages' }),
  }),
})
export type EngineHealth = z.infer<typeof engineHealth>

/**
 * Live views by WebRTC. `off`: by the settings; `missing`: there is no worker executable (yet); `ready`: the worker is
 * started for the first viewer; `failed`: it has ended and is started again. `reason` says why it is not running.
 */
export const webrtcHealth = z.strictObject({
  state: z.enum(['off', 'missing', 'ready', 'running', 'failed']),
  reason: z.string().optional(),
  viewers: z.int(),
})
export type WebRtcHealth = z.infer<typeof webrtcHealth>

/** What media says besides: its epoch, whether an engine is connected, and sources counted by their states. */
export const mediaHealth = health.extend({
  epoch: z.int(),
  engine: z.boolean(),
  sources: z.record(sourceState, z.int()),
  webrtc: webrtcHealth,
})
export type MediaHealth = z.infer<typeof mediaHealth>
