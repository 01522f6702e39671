import { z } from 'zod'
import { catalogElement } from './catalog.ts'
import { channel, channelProperties, stream } from './exports.ts'
import { id } from './ids.ts'
import { pipeline, pipelineElement, pipelineInput, pipelinePatch } from './pipeline.ts'
import { sink, sinkInput } from './sink.ts'
import { source, sourceInput, sourcePatch } from './source.ts'

/** The shapes of revisions A and B where they differ from those of C. */

export const earlierSource = source.omit({ decoder: true, recording: true }).meta({ id: 'EarlierSource' })
export type EarlierSource = z.infer<typeof earlierSource>

export const earlierSourceInput = sourceInput
  .omit({ decoder: true, recording: true })
  .meta({ id: 'EarlierSourceInput' })
export type EarlierSourceInput = z.infer<typeof earlierSourceInput>

export const earlierSourcePatch = sourcePatch
  .omit({ decoder: true, recording: true })
  .meta({ id: 'EarlierSourcePatch' })

/** `name:arg:arg`, the arguments in the order of the element's schema. */
export const shortElement = z
  .string()
  .regex(/^[^:]{1,200}(:[^:]*){0,32}$/, 'an element is written as name:argument:argument')
  .max(4096)
  .meta({ id: 'ShortPipelineElement' })

export const earlierElement = z.union([shortElement, pipelineElement])
export type EarlierElement = z.infer<typeof earlierElement>

const elements = z.array(earlierElement).min(1).max(100)

export const earlierPipeline = pipeline.omit({ priority: true }).meta({ id: 'EarlierPipeline' })
export type EarlierPipeline = z.infer<typeof earlierPipeline>

export const earlierPipelineInput = pipelineInput
  .omit({ priority: true })
  .extend({ elements })
  .meta({ id: 'EarlierPipelineInput' })
export type EarlierPipelineInput = z.infer<typeof earlierPipelineInput>

export const earlierPipelinePatch = pipelinePatch
  .omit({ priority: true })
  .extend({ elements: elements.optional() })
  .meta({ id: 'EarlierPipelinePatch' })

export const earlierConfiguration = z
  .strictObject({
    sources: z.array(earlierSource),
    sinks: z.array(sink),
    pipelines: z.array(earlierPipeline),
  })
  .meta({ id: 'EarlierConfiguration' })
export type EarlierConfiguration = z.infer<typeof earlierConfiguration>

export const earlierDeployment = z
  .array(
    z.strictObject({
      sources: z.array(earlierSourceInput).min(1),
      sinks: z.array(sinkInput).default([]),
      pipeline: elements,
      usecase: pipelineInput.shape.usecase,
    }),
  )
  .max(1000)
  .meta({ id: 'EarlierDeployment' })
export type EarlierDeployment = z.infer<typeof earlierDeployment>

export const platform = z.enum(['CPU', 'GPU', 'FPGA'])
export type Platform = z.infer<typeof platform>

export const earlierCatalogElement = z
  .strictObject({
    name: z.string(),
    paramsSchema: catalogElement.shape.params_schema,
    passthrough: z.boolean(),
  })
  .meta({ id: 'EarlierCatalogElement' })
export type EarlierCatalogElement = z.infer<typeof earlierCatalogElement>

export const earlierModel = z.strictObject({ name: z.string(), platform }).meta({ id: 'EarlierModel' })
export type EarlierModel = z.infer<typeof earlierModel>

/** An entry of the flat listing of what pipelines can be made of. */
export const listedPart = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('element'), name: z.string() }),
    z.strictObject({ type: z.literal('model'), name: z.string(), platform }),
  ])
  .meta({ id: 'ListedPart' })
export type ListedPart = z.infer<typeof listedPart>

/** A channel's stream is named by its id alone. */
const streamId = id.nullable()

export const earlierExports = z
  .strictObject({
    streams: z.array(stream),
    channels: z.array(channel.extend({ stream: streamId }).meta({ id: 'EarlierChannel' })),
  })
  .partial()
  .meta({ id: 'EarlierExports' })

export const earlierChannelProperties = channelProperties
  .extend({ stream: streamId.optional() })
  .meta({ id: 'EarlierChannelProperties' })
