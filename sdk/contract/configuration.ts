import { z } from 'zod'
import { pipeline, pipelineInput } from './pipeline.ts'
import { sink, sinkInput } from './sink.ts'
import { source, sourceInput } from './source.ts'

export const configuration = z
  .strictObject({ sources: z.array(source), sinks: z.array(sink), pipelines: z.array(pipeline) })
  .meta({ id: 'Configuration' })
export type Configuration = z.infer<typeof configuration>

/** Request body of Deploy. Each item creates one pipeline together with its sources and sinks. */
export const deployment = z
  .array(
    z.strictObject({
      sources: z.array(sourceInput).min(1),
      sinks: z.array(sinkInput).default([]),
      ...pipelineInput.pick({ elements: true, usecase: true, priority: true }).shape,
    }),
  )
  .max(1000)
  .meta({ id: 'Deployment' })
export type Deployment = z.infer<typeof deployment>
