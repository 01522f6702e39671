import { envelope, fieldErrors, type ManagementRoute } from '@eyrie/contract/management/index'
import type { ApiDocument } from '@eyrie/kit/api-docs'
import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi'
import { z } from 'zod'
import { type Method, methodsOf } from './route-methods.ts'

/** The OpenAPI 3.1 document of the management API. */
export function createDocument(routes: ManagementRoute[], version: string): ApiDocument {
  const { openAPIRegistry, getOpenAPI31Document } = new OpenAPIHono()
  openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' })
  for (const route of routes)
    for (const method of methodsOf(route, routes)) openAPIRegistry.registerPath(describe(route, method))
  return getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Eyrie management', version },
    servers: [{ url: '/api/v1' }],
  })
}

const statuses: Record<number, string> = {
  400: 'The input is not valid; every field at fault is named',
  401: 'Nobody has signed in, or the token is no longer valid',
  403: 'The role of the caller does not allow it',
  404: 'There is no such record that the caller may see',
  405: 'This path does not have the method',
  409: 'It contradicts what is there: a key that is taken, a record that others refer to',
  413: 'The body is too large',
  415: 'The body has another type than the operation takes',
  500: 'Management failed',
  503: 'A needed part is not ready; Retry-After says when to try again',
}

const refusal = z.object({ ...envelope(fieldErrors.nullable()).shape }).meta({ id: 'Refusal' })

function describe(route: ManagementRoute, method: Method): RouteConfig {
  const { path, summary, access, status } = route
  const content = answerOf(route)
  const body = method === 'post' ? bodyOf(route) : undefined
  const query = method === 'get' ? (route.query ?? route.body) : undefined
  return {
    method,
    path,
    summary,
    tags: [path.split('/')[1]!],
    ...(access !== 'anyone' && { security: [{ bearer: [] }] }),
    request: { ...(query && { query }), ...(body && { body: { required: true, content: body } }) },
    responses: {
      [status]: { description: 'Success', content },
      ...(route.mayBeStale && { 202: { description: 'Success, and what is shown may be old', content } }),
      ...Object.fromEntries(
        Object.entries(statuses).map(([code, description]) => [
          code,
          { description, content: json(refusal) },
        ]),
      ),
    },
  }
}

const binary = z.string().meta({ format: 'binary' })
/** What an answer has shown may be sent back, and changes nothing. */
const repeated = z.unknown().optional().meta({ readOnly: true })

const answerOf = ({ response, responseType }: ManagementRoute) =>
  responseType ? { [responseType]: { schema: binary } } : json(envelope(response ?? z.null()))

function bodyOf({ body, ignoredFields = [], fileField, fileTypes = [] }: ManagementRoute) {
  if (body) return json(body.extend(Object.fromEntries(ignoredFields.map(field => [field, repeated]))))
  if (!fileField) return undefined
  return {
    'multipart/form-data': { schema: z.object({ [fileField]: binary }) },
    ...Object.fromEntries(fileTypes.map(type => [type, { schema: binary }])),
  }
}

const json = (schema: z.ZodType) => ({ 'application/json': { schema } })
