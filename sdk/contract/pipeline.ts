import { z } from 'zod'
import { id, idList } from './ids.ts'

/**
 * Pipelines in the engine API. A pipeline analyses the video of its sources with a chain of
 * elements, such as a detector and a line counter, and sends the results to its sinks.
 */

const jsonObject = z.record(z.string(), z.unknown())

/** A processing step of a pipeline. */
export const pipelineElement = z
  .strictObject({
    name: z.string().min(1).max(200).meta({
      description:
        'Name of the element in the catalog. A version can be added: count@1.2.0 runs that version instead of the active one, and count@1.2 or count@1 runs the newest installed version that begins so',
    }),
    args: jsonObject.optional().meta({ description: 'Fixed parameters of the element' }),
    config: jsonObject
      .optional()
      .meta({ description: 'Parameters that can be changed while the pipeline runs' }),
  })
  .meta({ id: 'PipelineElement' })
export type PipelineElement = z.infer<typeof pipelineElement>

const elements = z.array(pipelineElement).min(1).max(100)
const usecase = z.string().max(200).nullable().optional().meta({
  description: 'Key of the usecase of the channels, such as line-crossing',
})
const priority = z.int().min(0).max(9).meta({
  description:
    'Priority when the machine is overloaded: pipelines with the lowest number drop frames first',
})

/** Request body that creates or replaces a pipeline. */
export const pipelineInput = z
  .strictObject({
    elements,
    usecase,
    priority: priority.default(5),
    sources: idList.default([]),
    sinks: idList.default([]),
  })
  .meta({ id: 'PipelineInput' })
export type PipelineInput = z.infer<typeof pipelineInput>

/** Request body that modifies a pipeline: a merge patch (RFC 7386). */
export const pipelinePatch = z
  .strictObject({
    elements,
    usecase,
    priority: priority.nullable(),
    sources: idList.nullable(),
    sinks: idList.nullable(),
  })
  .partial()
  .meta({ id: 'PipelinePatch' })

/** A pipeline, as the engine returns it. */
export const pipeline = z
  .strictObject({ id, elements, usecase, priority, sources: idList, sinks: idList })
  .meta({ id: 'Pipeline' })
export type Pipeline = z.infer<typeof pipeline>

/** Status of a pipeline. Its reason says why it is `degraded` or `failed`. */
export const pipelineStatus = z.enum([
  'idle',
  'starting',
  'running',
  'degraded',
  'failed',
  'stopped',
])
export type PipelineStatus = z.infer<typeof pipelineStatus>

/** The status and speed of a pipeline. */
export const pipelineStatistics = z
  .strictObject({
    status: pipelineStatus,
    fps: z.number().meta({ description: 'Analysed frames per second over the last 10 s' }),
    latency: z.number().meta({
      description: 'Median time from decoded frame to output over the last 10 s, in ms',
    }),
    reason: z.string().optional().meta({ description: 'Why the pipeline is degraded or failed' }),
  })
  .meta({ id: 'PipelineStatistics' })
export type PipelineStatistics = z.infer<typeof pipelineStatistics>
