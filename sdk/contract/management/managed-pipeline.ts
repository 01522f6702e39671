import { z } from 'zod'
import { pipelineElement } from '../pipeline.ts'
import { route } from './management-route.ts'
import { integer, name, recordId, reference, text } from './record-fields.ts'

/**
 * Pipelines in the management API. A pipeline is a chain of elements that analyse
 * the video of sources.
 */

/**
 * Elements of a pipeline as in the engine API (`/api/v3/pipelines`), with one difference: the
 * source ids in the keys of a `config`, separated by commas, are the ids of the management service.
 */
export const pipelineElements = z
  .strictObject({ elements: z.array(pipelineElement).min(1).max(100) })
  .meta({ id: 'PipelineElements' })
export type PipelineElements = z.infer<typeof pipelineElements>

/** A pipeline in a request. */
const pipelineInput = z.strictObject({
  engine_id: reference('engine'),
  pipeline_name: name,
  pipeline_usecase: name.meta({ description: 'Key of the usecase' }),
  pipeline_reference_key: integer.meta({
    description: 'A number chosen by the caller, unique on the engine',
  }),
  pipeline_elements: pipelineElements,
  pipeline_source: z
    .array(integer)
    .optional()
    .meta({ description: 'Ignored: the sources are derived from the channels of the pipeline' }),
})

/** A pipeline in a response. */
export const managedPipeline = z
  .object({
    ...pipelineInput.shape,
    pipeline_id: recordId,
    engine_id: recordId,
    pipeline_elements: z.record(z.string(), z.unknown()),
    pipeline_source: z
      .array(z.int())
      .meta({ description: 'Sources that the pipeline analyses, by their ids on the engine' }),
  })
  .meta({ id: 'ManagedPipeline' })
export type ManagedPipeline = z.infer<typeof managedPipeline>

const byId = z.strictObject({ pipeline_id: reference('pipeline') })

export const pipelineRoutes = {
  create: route({
    method: 'post',
    path: '/pipeline/create',
    summary: 'Create a pipeline',
    access: 'manage',
    body: pipelineInput,
    ignoredFields: ['pipeline_id'],
    status: 201,
    response: null,
    readBack: { path: '/pipeline/id', by: 'pipeline_id' },
  }),

  update: route({
    method: 'post',
    path: '/pipeline/update',
    summary: 'Update a pipeline',
    access: 'manage',
    body: pipelineInput.extend(byId.shape),
    status: 200,
    response: null,
  }),

  delete: route({
    method: 'post',
    path: '/pipeline/delete',
    summary: 'Delete a pipeline',
    access: 'manage',
    body: byId,
    status: 200,
    response: null,
  }),

  get: route({
    method: 'get',
    path: '/pipeline/id',
    summary: 'Get a pipeline',
    access: 'view',
    query: byId,
    status: 200,
    response: managedPipeline,
  }),

  list: route({
    method: 'get',
    path: '/pipeline/list',
    summary: 'List pipelines',
    access: 'view',
    status: 200,
    response: z.array(managedPipeline),
  }),

  defaultElement: route({
    method: 'get',
    path: '/pipeline/default-element',
    summary: 'Get the default elements of a usecase',
    access: 'view',
    query: z.strictObject({ usecase_key: text, engine_id: reference('engine').optional() }),
    status: 200,
    // Clients expect this envelope.
    response: z.object({ default_data: z.object({ elements: z.array(pipelineElement) }) }),
  }),
}
