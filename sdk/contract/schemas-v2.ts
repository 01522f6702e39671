import { z } from 'zod'
import { catalogElement } from './catalog.ts'
import { channel, channelProperties, stream } from './exports.ts'
import { id } from './ids.ts'
import { pipeline, pipelineElement, pipelineInput, pipelinePatch } from './pipeline.ts'
import { sink, sinkInput } from './sink.ts'
import { source, sourceInput, sourcePatch } from './source.ts'

/**
 * Schemas of the engine API v1 and v2 that differ from v3. These revisions have no decoder and
 * recording of sources and no priority of pipelines, and an element of a pipeline may be
 * written in a short form.
 */

export const sourceV2 = source
  .omit({ decoder: true, recording: true })
  .meta({ id: 'EarlierSource' })
export type SourceV2 = z.infer<typeof sourceV2>

export const sourceInputV2 = sourceInput
  .omit({ decoder: true, recording: true })
  .meta({ id: 'EarlierSourceInput' })
export type SourceInputV2 = z.infer<typeof sourceInputV2>

export const sourcePatchV2 = sourcePatch
  .omit({ decoder: true, recording: true })
  .meta({ id: 'EarlierSourcePatch' })

/**
 * An element in the short form `name:argument:argument`. The arguments are in the order of
 * the element's schema.
 */
export const elementShorthand = z
  .string()
  .regex(/^[^:]{1,200}(:[^:]*){0,32}$/, 'must have the form name:argument:argument')
  .max(4096)
  .meta({ id: 'ShortPipelineElement' })

/** An element in the short form or as an object. */
export const pipelineElementV2 = z.union([elementShorthand, pipelineElement])
export type PipelineElementV2 = z.infer<typeof pipelineElementV2>

const elements = z.array(pipelineElementV2).min(1).max(100)

export const pipelineV2 = pipeline.omit({ priority: true }).meta({ id: 'EarlierPipeline' })
export type PipelineV2 = z.infer<typeof pipelineV2>

export const pipelineInputV2 = pipelineInput
  .omit({ priority: true })
  .extend({ elements })
  .meta({ id: 'EarlierPipelineInput' })
export type PipelineInputV2 = z.infer<typeof pipelineInputV2>

export const pipelinePatchV2 = pipelinePatch
  .omit({ priority: true })
  .extend({ elements: elements.optional() })
  .meta({ id: 'EarlierPipelinePatch' })

export const configurationV2 = z
  .strictObject({
    sources: z.array(sourceV2),
    sinks: z.array(sink),
    pipelines: z.array(pipelineV2),
  })
  .meta({ id: 'EarlierConfiguration' })
export type ConfigurationV2 = z.infer<typeof configurationV2>

/**
 * Request body that replaces the whole configuration: pipelines, each with its sources and sinks.
 */
export const deploymentV2 = z
  .array(
    z.strictObject({
      sources: z.array(sourceInputV2).min(1),
      sinks: z.array(sinkInput).default([]),
      pipeline: elements,
      usecase: pipelineInput.shape.usecase,
    }),
  )
  .max(1000)
  .meta({ id: 'EarlierDeployment' })
export type DeploymentV2 = z.infer<typeof deploymentV2>

/** Type of the device that runs a model. */
export const platform = z.enum(['CPU', 'GPU', 'FPGA'])
export type Platform = z.infer<typeof platform>

export const catalogElementV2 = z
  .strictObject({
    name: z.string(),
    paramsSchema: catalogElement.shape.params_schema,
    passthrough: z.boolean(),
  })
  .meta({ id: 'EarlierCatalogElement' })
export type CatalogElementV2 = z.infer<typeof catalogElementV2>

export const catalogModelV2 = z
  .strictObject({ name: z.string(), platform })
  .meta({ id: 'EarlierModel' })
export type CatalogModelV2 = z.infer<typeof catalogModelV2>

/** An entry in the list of elements and models. */
export const catalogEntryV2 = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('element'), name: z.string() }),
    z.strictObject({ type: z.literal('model'), name: z.string(), platform }),
  ])
  .meta({ id: 'ListedPart' })
export type CatalogEntryV2 = z.infer<typeof catalogEntryV2>

/** In v1 and v2, a channel contains only the id of its stream. */
const streamId = id.nullable()

export const exportsV2 = z
  .strictObject({
    streams: z.array(stream),
    channels: z.array(channel.extend({ stream: streamId }).meta({ id: 'EarlierChannel' })),
  })
  .partial()
  .meta({ id: 'EarlierExports' })

export const channelPropertiesV2 = channelProperties
  .extend({ stream: streamId.optional() })
  .meta({ id: 'EarlierChannelProperties' })
