import { type ErrorCode, errorBody, errorTable } from '@eyrie/contract/errors'
import type { Route } from '@eyrie/contract/routes-v3'
import type { RouteConfig } from '@hono/zod-openapi'
import { z } from 'zod'
import { isWrite } from './reply.ts'

/** What every operation can answer besides what its route lists. */
export const always: readonly ErrorCode[] = ['auth', 'internal']
const withBody: readonly ErrorCode[] = ['size', 'type']

/** The route as OpenAPI describes it. */
export function describe(route: Route): RouteConfig {
  const { method, path, summary, params, query, body, status, unchangedStatus, response, errors } = route
  const { conflictBody = errorBody } = route
  const codes = [...errors, ...(body ? withBody : []), ...always]
  return {
    method,
    path,
    summary,
    security: [{ bearer: [] }],
    request: {
      ...(params && { params }),
      ...(query && { query }),
      ...(body && { body: { required: true, content: contentOf(body, route) } }),
      ...(method !== 'get' && { headers: headersOf(route) }),
    },
    responses: {
      [status]: { description: 'Success', ...(response && { content: json(shortened(response, route)) }) },
      ...(isWrite(route) &&
        status !== 201 && { 204: { description: 'Success with `Prefer: return=minimal`' } }),
      ...(unchangedStatus &&
        response && { [unchangedStatus]: { description: 'Already exists', content: json(response) } }),
      ...refusals(codes, conflictBody),
    },
  }
}

/** The answers with these errors, by their status. `conflict` is the body of 409. */
export function refusals(codes: readonly ErrorCode[], conflict: z.ZodType = errorBody) {
  const byStatus = Map.groupBy(codes, code => errorTable[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map(code => `\`${code}\`: ${errorTable[code].meaning}`).join('; '),
        content: json(status === errorTable.reference.status ? conflict : errorBody),
      },
    ]),
  )
}

const json = (schema: z.ZodType) => ({ 'application/json': { schema } })

const contentOf = (body: z.ZodType, { contentType, method }: Route) => ({
  ...(contentType ? { [contentType]: { schema: body } } : json(body)),
  ...(method === 'patch' && { 'application/merge-patch+json': { schema: body } }),
})

/** What is created may be answered by what names it alone. */
function shortened(answer: z.ZodType, { status }: Route): z.ZodType {
  if (status !== 201 || !(answer instanceof z.ZodObject)) return answer
  return z.union([answer, answer.pick('id' in answer.shape ? { id: true } : { name: true })])
}

function headersOf(route: Route) {
  return z.object({
    'If-Match': z.string().optional(),
    ...(isWrite(route) && {
      Prefer: z
        .string()
        .optional()
        .meta({ examples: ['return=minimal'] }),
    }),
  })
}
