import { type ErrorCode, errorBody, errorTable } from '@eyrie/contract/errors'
import type { Route } from '@eyrie/contract/routes'
import type { RouteConfig } from '@hono/zod-openapi'
import { z } from 'zod'
import { acceptsPreference } from './send-reply.ts'

/** Errors that every operation can return, in addition to the errors of its route. */
export const commonErrors: readonly ErrorCode[] = ['auth', 'internal']
const bodyErrors: readonly ErrorCode[] = ['size', 'type']

/** The OpenAPI description of a route. */
export function describeRoute(route: Route): RouteConfig {
  const { method, path, summary, params, query, body, status, unchanged, answer, errors } = route
  const { conflict = errorBody } = route
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
      [status]: { description: 'Success', ...(answer && { content: json(withMinimalForm(answer, route)) }) },
      ...(acceptsPreference(route) &&
        status !== 201 && { 204: { description: 'Success, if requested with `Prefer: return=minimal`' } }),
      ...(unchanged &&
        answer && { [unchanged]: { description: 'It already exists', content: json(answer) } }),
      ...errorResponses(codes, conflict),
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

const describeBody = (body: z.ZodType, { bytes, method }: Route) => ({
  ...(bytes ? { [bytes]: { schema: body } } : json(body)),
  ...(method === 'patch' && { 'application/merge-patch+json': { schema: body } }),
})

/** With `Prefer: return=minimal`, the response to a creation is only the new id or name. */
function withMinimalForm(answer: z.ZodType, { status }: Route): z.ZodType {
  if (status !== 201 || !(answer instanceof z.ZodObject)) return answer
  return z.union([answer, answer.pick('id' in answer.shape ? { id: true } : { name: true })])
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
