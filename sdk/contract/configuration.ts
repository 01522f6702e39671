import { z } from 'zod'
import { pipeline, pipelineInput } from './pipeline.ts'
import { sink, sinkInput } from './sink.ts'
import { source, sourceInput } from './source.ts'

/**
 * The complete configuration of an engine: pipelines analyse the video of sources and send the
 * results to sinks. All refer to each other by id.
 */
export const configuration = z
  .strictObject({ sources: z.array(source), sinks: z.array(sink), pipelines: z.array(pipeline) })
  .meta({ id: 'Configuration' })
export type Configuration = z.infer<typeof configuration>

/**
 * A configuration without ids, as a client deploys it. Each item creates a pipeline with
 * its sources and sinks.
 */
export const deployment = z
  .array(
    z.strictObject({
      sources: z.array(sourceInput).min(1),
      sinks: z.array(sinkInput).default([]),
      ...pipelineInput.pick({ elements: true, usecase: true, priority: true }).shape,
    }),
    'must be a list of pipelines',
  )
  .max(1000)
  .meta({ id: 'Deployment' })
export type Deployment = z.infer<typeof deployment>
