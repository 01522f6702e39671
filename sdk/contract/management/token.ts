import { z } from 'zod'
import { instant, name, recordId, reference } from './fields.ts'
import { route } from './route.ts'

/** What an API token is for: all that its user may read or change, or a resource of it, such as `write:alert`. */
const scope = z.string().regex(/^(read|write)(:[a-z-]+)?$/, {
  error: 'is no scope: use read, write, or one of them for a resource, such as write:alert',
})

export const apiToken = z
  .object({
    token_id: recordId,
    name: z.string(),
    scopes: z.array(z.string()),
    created_at: instant,
    used_at: instant.nullable(),
    /** Null: never. */
    expires_at: instant.nullable(),
  })
  .meta({ id: 'ApiToken' })
export type ApiToken = z.infer<typeof apiToken>

export const tokenRoutes = {
  create: route({
    method: 'post',
    path: '/token/create',
    summary: 'Create an API token',
    access: 'view',
    session: true,
    body: z.strictObject({
      name,
      scopes: z.array(scope).min(1),
      expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
    }),
    status: 201,
    /** The only answer that shows the token. */
    answer: apiToken.extend({ token: z.string() }).meta({ id: 'NewApiToken' }),
  }),
  delete: route({
    method: 'post',
    path: '/token/delete',
    summary: 'Delete an API token',
    access: 'signed-in',
    session: true,
    body: z.strictObject({ token_id: reference('api_token') }),
    status: 200,
    answer: null,
  }),
  list: route({
    method: 'get',
    path: '/token/list',
    summary: 'List one’s API tokens',
    access: 'signed-in',
    session: true,
    status: 200,
    answer: z.array(apiToken),
  }),
}
