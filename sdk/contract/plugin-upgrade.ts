import { z } from 'zod'
import { id, idList } from './ids.ts'
import { pipelineElement } from './pipeline.ts'
import { pluginName, pluginVersion } from './plugin.ts'

/**
 * How a plugin is upgraded while its pipelines run. A version can first run in shadow: on the same
 * frames as the active version, but without any effect. A report compares both, and a switch makes
 * the version the active one.
 */

/** Request body that runs a version of a plugin in shadow. */
export const shadowInput = z
  .strictObject({
    version: pluginVersion,
    seconds: z
      .int()
      .min(1)
      .max(3600)
      .default(60)
      .meta({ description: 'Maximum duration of the run' }),
    grant: z.literal(true).optional().meta({
      description:
        'Grants everything that the version asks for, which GET /plugins/{name} lists as not_granted',
    }),
  })
  .meta({ id: 'PluginShadowInput' })
export type ShadowInput = z.infer<typeof shadowInput>

/** Request body that activates the version that has run in shadow. */
export const shadowAcceptance = z
  .strictObject({
    force: z.literal(true).optional().meta({
      description: 'Accepts the version even if the verdict is worse or unknown',
    }),
  })
  .meta({ id: 'PluginShadowAcceptance' })
export type ShadowAcceptance = z.infer<typeof shadowAcceptance>

const count = z.int().min(0)

/** The results of one version, on the frames that both versions have processed. */
export const shadowSide = z
  .strictObject({
    failures: count.meta({ description: 'How often the element has failed during the run' }),
    last_failure: z.string().optional().meta({ description: 'Message of the last failure' }),
    cpu_ms: z
      .strictObject({ mean: z.number(), p95: z.number() })
      .optional()
      .meta({ description: 'CPU time of a frame in ms; absent if none was measured' }),
    budget_ms: z
      .number()
      .optional()
      .meta({ description: 'CPU time of a frame that the manifest declares' }),
    over_budget: count.meta({ description: 'Measured frames that took longer than the budget' }),
    objects: count.meta({ description: 'Number of objects in all frames' }),
    events: z.record(z.string(), count).meta({ description: 'Number of events by type' }),
    counters: z.record(z.string(), z.record(z.string(), z.number())).meta({
      description: 'By how much the counters have changed during the run',
    }),
  })
  .meta({ id: 'PluginShadowSide' })
export type ShadowSide = z.infer<typeof shadowSide>

/** The comparison of both versions of an element on a channel. */
export const shadowComparison = z
  .strictObject({
    channel: id,
    element: z.string(),
    frames: count.meta({ description: 'Frames that both versions have processed' }),
    skipped: count.meta({
      description:
        'Frames that the version in shadow did not process, because it was busy or the picture was no longer available',
    }),
    starved: z.literal(true).optional().meta({
      description: 'The version in shadow has waited for a processor for longer than it has run',
    }),
    problem: z
      .string()
      .optional()
      .meta({ description: 'Why the version does not run in shadow here' }),
    active: shadowSide,
    shadow: shadowSide,
    different_frames: z.strictObject({ objects: count, events: count }).meta({
      description: 'Frames with a different number of objects, and frames with different events',
    }),
  })
  .meta({ id: 'PluginShadowComparison' })
export type ShadowComparison = z.infer<typeof shadowComparison>

/** What a run in shadow has found. */
export const shadowReport = z
  .strictObject({
    plugin: pluginName,
    active: pluginVersion.meta({ description: 'The version that the pipelines run' }),
    version: pluginVersion.meta({ description: 'The version that runs in shadow' }),
    state: z.enum(['running', 'ended']),
    started: z.iso.datetime(),
    ends: z.iso.datetime().meta({ description: 'When the run ends by itself, or has ended' }),
    channels: z.array(shadowComparison),
    verdict: z.enum(['unknown', 'same', 'different', 'worse']).meta({
      description:
        'worse: the version has failed more often, or exceeds its budget; different: its results differ; same: neither; unknown: no frame was compared',
    }),
    findings: z
      .array(z.string())
      .meta({ description: 'The differences in words, the most important ones first' }),
  })
  .meta({ id: 'PluginShadowReport' })
export type ShadowReport = z.infer<typeof shadowReport>

/** A switch of the active version. */
export const versionSwitch = z
  .strictObject({
    time: z.iso.datetime(),
    from: pluginVersion,
    to: pluginVersion,
    client: z.string().optional().meta({
      description:
        'IP address of the client that has switched; absent if the engine has switched back by itself',
    }),
    reason: z
      .string()
      .optional()
      .meta({ description: 'Why the engine has switched back by itself' }),
    pipelines: idList.meta({
      description: 'Ids of the pipelines whose elements were changed with the switch',
    }),
  })
  .meta({ id: 'PluginVersionSwitch' })
export type VersionSwitch = z.infer<typeof versionSwitch>

/** Request body that activates a version of a plugin. */
export const pluginSwitch = z
  .strictObject({
    version: pluginVersion,
    grant: z.literal(true).optional().meta({
      description:
        'Grants everything that the version asks for, which GET /plugins/{name} lists as not_granted',
    }),
    revert: z.boolean().optional().meta({
      description:
        'Whether the engine switches back if the version fails more often within ten minutes than the one before; true by default',
    }),
    pipelines: z
      .array(z.strictObject({ id, elements: z.array(pipelineElement).min(1).max(100) }))
      .max(1000)
      .optional()
      .meta({
        description: 'New elements of pipelines, which are changed together with the version',
      }),
  })
  .meta({ id: 'PluginSwitch' })
export type PluginSwitch = z.infer<typeof pluginSwitch>
