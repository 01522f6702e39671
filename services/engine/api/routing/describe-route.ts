import { type ErrorCode, errorBody, errorTable } from '@eyrie/contract/errors'
import type { Route } from '@eyrie/contract/routes-v3'
import type { RouteConfig } from '@hono/zod-openapi'
import { z } from 'zod'
import { acceptsPreference } from './send-reply.ts'

/** Errors that every operation can return, in addition to the errors of its route. */
export const commonErrors: readonly ErrorCode[] = ['auth', 'internal']
const bodyErrors: readonly ErrorCode[] = ['size', 'type']

/** The OpenAPI description of a route. */
export function describeRoute(route: Route): RouteConfig {
  const { method, path, summary, params, query, body, status, unchangedStatus, response, errors } = route
  const { conflictBody = errorBody } = route
  const codes = [...errors, ...(body ? bodyErrors : []), ...commonErrors]
  return {
    method,
    path,
    summary,
    security: [{ bearer: [] }],
    request: {
      ...(params && { params }),
      ...(query && { query }),
      ...(body && { body: { required: true, content: describeBody(body, route) } }),
      ...(method !== 'get' && { headers: describeHeaders(route) }),
    },
    responses: {
      [status]: {
        description: 'Success',
        ...(response && { content: json(withMinimalForm(response, route)) }),
      },
      ...(acceptsPreference(route) &&
        status !== 201 && { 204: { description: 'Success, if requested with `Prefer: return=minimal`' } }),
      ...(unchangedStatus &&
        response && { [unchangedStatus]: { description: 'Already exists', content: json(response) } }),
      ...errorResponses(codes, conflictBody),
    },
  }
}

/** The responses for these errors by status. `conflict` is the body of 409. */
export function errorResponses(codes: readonly ErrorCode[], conflict: z.ZodType = errorBody) {
  const codesByStatus = Map.groupBy(codes, code => errorTable[code].status)
  return Object.fromEntries(
    [...codesByStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map(code => `\`${code}\`: ${errorTable[code].meaning}`).join('; '),
        content: json(status === errorTable.reference.status ? conflict : errorBody),
      },
    ]),
  )
}

const json = (schema: z.ZodType) => ({ 'application/json': { schema } })

const describeBody = (body: z.ZodType, { contentType, method }: Route) => ({
  ...(contentType ? { [contentType]: { schema: body } } : json(body)),
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
