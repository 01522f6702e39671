import { z } from 'zod'
import { route } from './management-route.ts'
import { name, recordId, reference, timestamp } from './record-fields.ts'

/**
 * API tokens in the management API. With a token, a program can act for the user who created it.
 */

/**
 * Scope of an API token. `read` and `write` permit everything that the user of the token may read
 * or write; a scope with a resource, such as `write:alert`, is limited to that resource.
 */
const scope = z.string().regex(/^(read|write)(:[a-z-]+)?$/, {
  error: 'must be read or write, optionally with a resource, such as write:alert',
})

/** A token in a response, without the token itself. */
export const apiToken = z
  .object({
    token_id: recordId,
    name: z.string(),
    scopes: z.array(z.string()),
    created_at: timestamp,
    used_at: timestamp.nullable().meta({ description: 'Time of the last use' }),
    expires_at: timestamp.nullable().meta({ description: 'Null if the token never expires' }),
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
    response: apiToken
      .extend({
        token: z.string().meta({ description: 'The token itself. No other operation returns it' }),
      })
      .meta({ id: 'NewApiToken' }),
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
    summary: 'List your API tokens',
    access: 'signed-in',
    requiresSession: true,
    status: 200,
    response: z.array(apiToken),
  }),
}
