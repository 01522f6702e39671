import {
  allManagementRoutes,
  envelope,
  fieldErrors,
  type ManagementRoute,
} from '@eyrie/contract/management/index'
import {
  type ApiDocument,
  createApiDocument,
  createDocsPage,
  jsonContent,
} from '@eyrie/kit/api-docs'
import { mountRoutes } from '@eyrie/kit/mount-routes'
import type { RouteConfig } from '@hono/zod-openapi'
import type { Hono } from 'hono'
import { z } from 'zod'
import { listMethods, type Method } from './operation.ts'

/**
 * Serves the OpenAPI document and the documentation page. Both are available without a token and
 * without the database.
 */
export function serveApiDocument(app: Hono, version: string): void {
  let document: ApiDocument | undefined
  // Created at the first request, because it takes a fifth of a second.
  const getDocument = () => {
    document ??= createDocument(version)
    return document
  }
  const docsPage = createDocsPage('Eyrie management: API', [getDocument])

  mountRoutes(app, [
    { method: 'get', path: '/api/v1/openapi.json', handlers: [c => c.json(getDocument())] },
    { method: 'get', path: '/docs', handlers: [docsPage] },
  ])
}

function createDocument(version: string): ApiDocument {
  const routes = allManagementRoutes.flatMap(route =>
    listMethods(route, allManagementRoutes).map(method => describeRoute(route, method)),
  )
  return createApiDocument({ title: 'Eyrie management', version, basePath: '/api/v1', routes })
}

/** Descriptions of the error statuses, which are the same for every route. */
const ERROR_STATUSES: Record<number, string> = {
  400: 'The request is not valid; the response names every invalid field',
  401: 'Authentication is missing, invalid or expired',
  403: 'Your role, your assignments or the scopes of your API token do not permit this operation',
  404: 'The record does not exist or is not visible to you',
  405: 'The path does not support this method',
  409: 'The request conflicts with existing records: a key is in use, or other records reference the record',
  413: 'The request body is too large',
  415: 'The Content-Type is not supported',
  500: 'An internal error occurred',
  503: 'A required component is unavailable; retry after the number of seconds in Retry-After',
}

const CHANGED = 'The record does not have the ETag in `If-Match`, because it was changed since'
const ifMatchHeader = z.object({ 'If-Match': z.string().optional() })

const refusal = envelope(fieldErrors.nullable()).meta({ id: 'Refusal' })

/** Returns the OpenAPI description of one method of a route. */
function describeRoute(route: ManagementRoute, method: Method): RouteConfig {
  const { path, summary, description, access, hasEtag = false, status } = route
  const acceptsIfMatch = hasEtag && method === 'post'
  const [, firstSegment = ''] = path.split('/')
  const content = describeResponse(route)
  const body = method === 'post' ? describeBody(route) : undefined
  // A POST route that is also called with GET takes the fields of its body as query parameters.
  const query = method === 'get' ? (route.query ?? route.body) : undefined

  return {
    method,
    path,
    summary,
    ...(description && { description }),
    tags: [firstSegment],
    ...(access !== 'anyone' && { security: [{ bearer: [] }] }),
    request: {
      ...(query && { query }),
      ...(acceptsIfMatch && { headers: ifMatchHeader }),
      ...(body && { body: { required: true, content: body } }),
    },
    responses: {
      [status]: { description: 'Success', content },
      ...(route.mayBeStale && {
        202: { description: 'Success; the response may be stale', content },
      }),
      ...describeErrors(acceptsIfMatch ? { ...ERROR_STATUSES, 412: CHANGED } : ERROR_STATUSES),
    },
  }
}

function describeErrors(statuses: Record<number, string>) {
  const content = jsonContent(refusal)
  const entries = Object.entries(statuses)
  return Object.fromEntries(
    entries.map(([status, description]) => [status, { description, content }]),
  )
}

const binary = z.string().meta({ format: 'binary' })
/** A field of a response that clients may send back unchanged. It is ignored. */
const ignoredField = z.unknown().optional().meta({ readOnly: true })

/** Describes the content of a successful response: a file, or JSON in the response envelope. */
const describeResponse = ({ response, responseType }: ManagementRoute) =>
  responseType
    ? { [responseType]: { schema: binary } }
    : jsonContent(envelope(response ?? z.null()))

/** Describes the body of a request: JSON, an uploaded file, or none. */
function describeBody({ body, ignoredFields = [], fileField, fileTypes = [] }: ManagementRoute) {
  if (body) {
    const ignoredShape = Object.fromEntries(ignoredFields.map(field => [field, ignoredField]))
    return jsonContent(body.extend(ignoredShape))
  }
  if (!fileField) return undefined

  // The file may be sent in a form or, if it has one of these types, as the whole body.
  const rawBodies = Object.fromEntries(fileTypes.map(type => [type, { schema: binary }]))
  return { 'multipart/form-data': { schema: z.object({ [fileField]: binary }) }, ...rawBodies }
}
