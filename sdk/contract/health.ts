import { z } from 'zod'
import { sourceState } from './media.ts'
import { pipelineStatus } from './pipeline.ts'

/** How completely programs are separated from the rest of the machine. */
export const isolationLevel = z.enum(['full', 'partial', 'none'])
export type IsolationLevel = z.infer<typeof isolationLevel>

/** The boundaries around programs, such as inference workers. */
export const isolation = z.strictObject({
  level: isolationLevel.meta({
    description:
      'full: the programs are limited to what they need; partial: some boundaries are missing; none: the most important boundaries are missing',
  }),
  missing: z
    .array(z.string())
    .meta({ description: 'The missing boundaries, each with its remedy' }),
})
export type Isolation = z.infer<typeof isolation>

/**
 * Health of a service, the response of its `/health` endpoint. The status is 200 if `ok` is true,
 * otherwise 503. The endpoint requires no authentication.
 */
export const health = z
  .looseObject({
    ok: z.boolean(),
    reason: z.string().optional().meta({ description: 'Why the service is not healthy' }),
    alarms: z.array(z.string()).default([]).meta({
      description:
        'Problems that a person must solve, each with its remedy. A service with alarms can be healthy',
    }),
    separation: isolation.optional().meta({
      description:
        'How the services are separated from each other: full if each runs as a user of its own. Absent if no supervisor has started the service',
    }),
  })
  .meta({ id: 'Health' })
export type Health = z.infer<typeof health>
/** Health as a service reports it. `alarms` may be omitted. */
export type HealthReport = z.input<typeof health>

/** Health of the engine. */
export const engineHealth = health.extend({
  media: z
    .enum(['connected', 'not connected'])
    .meta({ description: 'Whether the engine is connected to the media service' }),
  activated: z.boolean().meta({ description: 'Whether the engine has a valid license' }),
  isolation: isolation.meta({ description: 'The boundaries around the processes that run models' }),
  plugin_isolation: isolation.meta({
    description: 'The boundaries around the processes that run elements of uploaded plugins',
  }),
  element_sdk: z.string().meta({ description: 'Version of the element SDK that plugins can use' }),
  channels: z
    .partialRecord(pipelineStatus, z.int())
    .meta({ description: 'Number of channels, by the status of their pipeline' }),
  output: z.looseObject({
    newest: z.int().meta({ description: 'Sequence number of the newest message' }),
    followers: z.int().meta({ description: 'Number of clients that are connected to the output' }),
    storing: z
      .boolean()
      .meta({ description: 'Whether durable messages are being written to disk' }),
  }),
})
export type EngineHealth = z.infer<typeof engineHealth>

/** Health of live streams over WebRTC, which a worker process serves. */
export const webrtcHealth = z.strictObject({
  state: z.enum(['off', 'missing', 'ready', 'running', 'failed']).meta({
    description: [
      'off: disabled by the settings',
      'missing: the worker executable is not installed',
      'ready: the worker starts with the first viewer',
      'running: the worker is running',
      'failed: the worker exited and is being restarted',
    ].join('; '),
  }),
  reason: z.string().optional().meta({ description: 'Why the worker is not running' }),
  viewers: z.int().meta({ description: 'Number of connected viewers' }),
})
export type WebRtcHealth = z.infer<typeof webrtcHealth>

/** Health of the media service. */
export const mediaHealth = health.extend({
  epoch: z
    .int()
    .meta({ description: 'Run of the media service; stream time starts anew in each run' }),
  engine: z.boolean().meta({ description: 'Whether an engine is connected' }),
  sources: z.record(sourceState, z.int()).meta({ description: 'Number of sources by state' }),
  isolation: isolation.meta({
    description: 'The boundaries around the service itself, which reads what cameras send',
  }),
  webrtc: webrtcHealth,
})
export type MediaHealth = z.infer<typeof mediaHealth>

/** An engine that management cannot use at the moment. */
export const engineOutage = z.strictObject({
  engine_id: z.string(),
  engine_name: z.string(),
  status: z.enum(['offline', 'error']).meta({
    description:
      'offline: the engine does not respond; error: it responds, but needs an action, for example because of a wrong token',
  }),
  since: z.iso
    .datetime()
    .meta({ description: 'When the engine responded for the last time, or was contacted first' }),
  reason: z.string(),
})
export type EngineOutage = z.infer<typeof engineOutage>

/** Health of the management service. An engine that is offline does not make it unhealthy. */
export const managementHealth = health.extend({
  engines: z
    .array(engineOutage)
    .meta({ description: 'The engines that cannot be used. Each is also an alarm' }),
})
export type ManagementHealth = z.infer<typeof managementHealth>
