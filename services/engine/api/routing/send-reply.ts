import type { Route } from '@eyrie/contract/routes-v3'
import type { Context } from 'hono'
import type { Reply } from './operation.ts'

/** A resource that a request has created. It is identified by its id, or a plugin by its name. */
type Created = { id: number } | { id?: undefined; name: string }

/**
 * Sends the reply of an operation as the HTTP response. A client that sends
 * `Prefer: return=minimal` (RFC 7240) receives no body, or only the new id or name if it
 * has created a resource.
 */
export function sendReply(c: Context, route: Route, { value, etag, unchanged }: Reply): Response {
  if (etag) c.header('ETag', etag)
  if (route.status === 204) return c.body(null, 204)

  const status = unchanged && route.unchangedStatus ? route.unchangedStatus : route.status
  const created = status === 201 ? (value as Created) : undefined
  if (created) c.header('Location', `${c.req.path}/${created.id ?? created.name}`)

  const preference = acceptsPreference(route) ? parsePreference(c.req.header('Prefer')) : undefined
  if (preference) c.header('Preference-Applied', `return=${preference}`)
  if (preference !== 'minimal') return c.json(value, status)
  if (!created) return c.body(null, 204)
  return c.json(created.id === undefined ? { name: created.name } : { id: created.id }, 201)
}

/** Whether the route honours `Prefer: return=minimal`. */
export const acceptsPreference = ({ method, status }: Route) =>
  status === 201 || method === 'put' || method === 'patch'

/** Finds `return=minimal` or `return=representation` among the preferences of the header. */
function parsePreference(header = ''): 'minimal' | 'representation' | undefined {
  const match = /(?:^|[,;\s])return\s*=\s*"?(minimal|representation)"?(?=$|[,;\s])/i.exec(header)
  return match?.[1]?.toLowerCase() as 'minimal' | 'representation' | undefined
}
