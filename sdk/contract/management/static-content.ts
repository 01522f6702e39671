import { z } from 'zod'
import { route } from './management-route.ts'
import { integer, jsonObject, name, recordId, reference } from './record-fields.ts'

/** Static content in the management API: JSON data that is shown with a source. */

/** Static content in a request. */
const staticContentInput = z.strictObject({
  id: integer.meta({ description: 'A number chosen by the caller, unique for the source' }),
  source_id: reference('source'),
  static_content_data: jsonObject,
  static_content_name: name,
  static_content_type: name,
})

/** Static content in a response. */
export const staticContent = z
  .object({ ...staticContentInput.shape, source_id: recordId, static_content_id: recordId })
  .meta({ id: 'StaticContent' })

const byId = z.strictObject({ static_content_id: reference('static_content') })

export const staticContentRoutes = {
  create: route({
    method: 'post',
    path: '/static-content/create',
    summary: 'Create static content',
    access: 'manage',
    body: staticContentInput,
    ignoredFields: ['static_content_id'],
    status: 201,
    response: null,
    readBack: { path: '/static-content/id', by: 'static_id' },
  }),

  update: route({
    method: 'post',
    path: '/static-content/update',
    summary: 'Update static content',
    access: 'manage',
    body: staticContentInput.extend(byId.shape),
    status: 200,
    response: null,
  }),

  delete: route({
    method: 'post',
    path: '/static-content/delete',
    summary: 'Delete static content',
    access: 'manage',
    body: byId,
    status: 200,
    response: null,
  }),

  get: route({
    method: 'get',
    path: '/static-content/id',
    summary: 'Get static content',
    access: 'view',
    // Other operations call this parameter `static_content_id`.
    query: z.strictObject({
      static_id: reference('static_content').meta({ description: 'The static_content_id' }),
    }),
    status: 200,
    response: staticContent,
  }),

  list: route({
    method: 'get',
    path: '/static-content/list',
    summary: 'List the static content of a device',
    access: 'view',
    query: z.strictObject({ device_id: reference('device') }),
    status: 200,
    response: z.array(staticContent),
  }),
}
