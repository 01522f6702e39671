import { z } from 'zod'
import { pipelineElement } from '../pipeline.ts'
import { route } from './management-route.ts'
import { integer, name, recordId, reference, text } from './record-fields.ts'

/**
 * As the engine takes them (`/api/v3/pipelines`), but keys of a `config` that name sources are this system's source ids,
 * several with commas between them.
 */
export const pipelineElements = z
  .strictObject({ elements: z.array(pipelineElement).min(1).max(100) })
  .meta({ id: 'PipelineElements' })
export type PipelineElements = z.infer<typeof pipelineElements>

const pipelineInput = z.strictObject({
  engine_id: reference('engine'),
  pipeline_name: name,
  /** Key of a usecase. */
  pipeline_usecase: name,
  /** A number of the caller's, unique on the engine. */
  pipeline_reference_key: integer,
  pipeline_elements: pipelineElements,
  /** Changes nothing: it is kept in step with the channels. */
  pipeline_source: z.array(integer).optional(),
})

export const managedPipeline = z
  .object({
    ...pipelineInput.shape,
    pipeline_id: recordId,
    engine_id: recordId,
    pipeline_elements: z.record(z.string(), z.unknown()),
    /** Ids on the engine of the sources that it analyses. */
    pipeline_source: z.array(z.int()),
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
  id: route({
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
    summary: 'Get the standard elements of a usecase, with their defaults',
    access: 'view',
    query: z.strictObject({ usecase_key: text, engine_id: reference('engine').optional() }),
    status: 200,
    response: z.object({ default_data: z.object({ elements: z.array(pipelineElement) }) }),
  }),
}
