import { ERROR_TABLE, type ErrorCode, errorBody } from '@eyrie/contract/errors'
import type { Route } from '@eyrie/contract/routes-v3'
import { jsonContent } from '@eyrie/kit/api-docs'
import type { RouteConfig } from '@hono/zod-openapi'
import { z } from 'zod'
import { acceptsPreference } from './send-reply.ts'

/** Errors that every operation can return, in addition to the errors of its route. */
export const COMMON_ERRORS: readonly ErrorCode[] = ['auth', 'internal']
const BODY_ERRORS: readonly ErrorCode[] = ['size', 'type']

/** A successful response with a picture. */
export const JPEG_RESPONSE = {
  description: 'Success',
  content: { 'image/jpeg': { schema: { type: 'string', format: 'binary' } } },
} as const

/** Returns the OpenAPI description of a route. */
export function describeRoute(route: Route): RouteConfig {
  const { method, path, summary } = route
  return {
    method,
    path,
    summary,
    security: [{ bearer: [] }],
    request: describeRequest(route),
    responses: { ...describeSuccess(route), ...describeErrors(route) },
  }
}

function describeRequest(route: Route): RouteConfig['request'] {
  const { method, params, query, body } = route
  return {
    ...(params && { params }),
    ...(query && { query }),
    ...(body && { body: { required: true, content: describeBody(body, route) } }),
    ...(method !== 'get' && { headers: describeHeaders(route) }),
  }
}

/** Returns the successful responses by status. */
function describeSuccess(route: Route): RouteConfig['responses'] {
  const { status, unchangedStatus, response } = route
  const responses: RouteConfig['responses'] = {
    [status]: {
      description: 'Success',
      ...(response && { content: jsonContent(withMinimalForm(response, route)) }),
    },
  }
  // The minimal response to a creation is not empty: see `withMinimalForm`.
  const hasEmptyMinimalForm = acceptsPreference(route) && status !== 201
  if (hasEmptyMinimalForm) {
    responses[204] = { description: 'Success, if requested with `Prefer: return=minimal`' }
  }
  if (unchangedStatus && response) {
    responses[unchangedStatus] = { description: 'Already exists', content: jsonContent(response) }
  }
  return responses
}

function describeErrors({ errors, body, conflictBody }: Route): RouteConfig['responses'] {
  return errorResponses([...errors, ...(body ? BODY_ERRORS : []), ...COMMON_ERRORS], conflictBody)
}

/**
 * Returns the responses for these errors by status. `conflictBody` is the schema of
 * the body of status 409.
 */
export function errorResponses(
  codes: readonly ErrorCode[],
  conflictBody: z.ZodType = errorBody,
): RouteConfig['responses'] {
  const codesByStatus = Map.groupBy(codes, code => ERROR_TABLE[code].status)
  const responses: RouteConfig['responses'] = {}
  for (const [status, codesOfStatus] of codesByStatus) {
    const meanings = codesOfStatus.map(code => `\`${code}\`: ${ERROR_TABLE[code].meaning}`)
    responses[status] = {
      description: meanings.join('; '),
      content: jsonContent(status === 409 ? conflictBody : errorBody),
    }
  }
  return responses
}

const describeBody = (body: z.ZodType, { contentType, method }: Route) => ({
  ...(contentType ? { [contentType]: { schema: body } } : jsonContent(body)),
  ...(method === 'patch' && { 'application/merge-patch+json': { schema: body } }),
})

/** With `Prefer: return=minimal`, the response to a creation is only the new id or name. */
function withMinimalForm(response: z.ZodType, { status }: Route): z.ZodType {
  if (status !== 201 || !(response instanceof z.ZodObject)) return response
  return z.union([response, response.pick('id' in response.shape ? { id: true } : { name: true })])
}

function describeHeaders(route: Route) {
  return z.object({
    'If-Match': z.string().optional(),
    ...(acceptsPreference(route) && {
      Prefer: z
        .string()
        .optional()
        .meta({ examples: ['return=minimal'] }),
    }),
  })
}
