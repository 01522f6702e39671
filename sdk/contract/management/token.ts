import { z } from 'zod'
import { route } from './management-route.ts'
import { name, recordId, reference, timestamp } from './record-fields.ts'

/** What an API token is for: all that its user may read or change, or a resource of it, such as `write:alert`. */
const scope = z.string().regex(/^(read|write)(:[a-z-]+)?$/, {
  error: 'is no scope: use read, write, or one of them for a resource, such as write:alert',
})

export const apiToken = z
  .object({
    token_id: recordId,
    name: z.string(),
    scopes: z.array(z.string()),
    created_at: timestamp,
    used_at: timestamp.nullable(),
    /** Null: never. */
    expires_at: timestamp.nullable(),
  })
  .meta({ id: 'ApiToken' })
export type ApiToken = z.infer<typeof apiToken>

export const tokenRoutes = {
  create: route({
    method: 'post',
    path: '/token/create',
    summary: 'Create an API token',
    access: 'view',
    requiresSession: true,
    body: z.strictObject({
      name,
      scopes: z.array(scope).min(1),
      expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
    }),
    status: 201,
    /** The only answer that shows the token. */
    response: apiToken.extend({ token: z.string() }).meta({ id: 'NewApiToken' }),
  }),
  delete: route({
    method: 'post',
    path: '/token/delete',
    summary: 'Delete an API token',
    access: 'signed-in',
    requiresSession: true,
    body: z.strictObject({ token_id: reference('api_token') }),
    status: 200,
    response: null,
  }),
  list: route({
    method: 'get',
    path: '/token/list',
    summary: 'List one’s API tokens',
    access: 'signed-in',
    requiresSession: true,
    status: 200,
    response: z.array(apiToken),
  }),
}
