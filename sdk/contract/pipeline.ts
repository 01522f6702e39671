import { z } from 'zod'
import { id, idList } from './ids.ts'

const jsonObject = z.record(z.string(), z.unknown())

/** One processing step: the element's name in the catalog, its arguments and its configuration. */
export const pipelineElement = z
  .strictObject({
    name: z.string().min(1).max(200),
    args: jsonObject.optional(),
    config: jsonObject.optional(),
  })
  .meta({ id: 'PipelineElement' })
export type PipelineElement = z.infer<typeof pipelineElement>

const elements = z.array(pipelineElement).min(1).max(100)
const usecase = z.string().max(200).nullable().optional()
const priority = z.int().min(0).max(9).meta({
  description: 'Who loses frames when the machine is overloaded: 0 gives way first, 9 is served first',
})

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

export const pipeline = z
  .strictObject({ id, elements, usecase, priority, sources: idList, sinks: idList })
  .meta({ id: 'Pipeline' })
export type Pipeline = z.infer<typeof pipeline>

export const pipelineStatus = z.enum(['idle', 'starting', 'running', 'degraded', 'failed', 'stopped'])
export type PipelineStatus = z.infer<typeof pipelineStatus>

/** `fps`: analysed frames a second; `latency`: p50 in ms from decoded frame to output; both over the last 10 s. */
export const pipelineStatistics = z
  .strictObject({
    status: pipelineStatus,
    fps: z.number(),
    latency: z.number(),
    reason: z.string().optional(),
  })
  .meta({ id: 'PipelineStatistics' })
export type PipelineStatistics = z.infer<typeof pipelineStatistics>
