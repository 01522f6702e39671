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
  400: 'The request is not valid; the response names every invalid field',
  401: 'Authentication is missing, invalid or expired',
  403: 'Your role does not permit this operation',
  404: 'The record does not exist or is not visible to you',
  405: 'The path does not support this method',
  409: 'The request conflicts with existing records: a key is in use, or other records reference the record',
  413: 'The request body is too large',
  415: 'The Content-Type is not supported',
  500: 'An internal error occurred',
  503: 'A required component is unavailable; retry after the number of seconds in Retry-After',
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
      ...(route.mayBeStale && { 202: { description: 'Success; the response may be stale', content } }),
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
