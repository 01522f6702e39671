import type { Route } from '@eyrie/contract/routes-v3'
import type { Context } from 'hono'
import type { Reply } from './operation.ts'

/** Sends the reply with the status of the route, shortened for `Prefer: return=minimal` (RFC 7240). */
export function sendReply(c: Context, route: Route, { value, etag, unchanged }: Reply): Response {
  if (etag) c.header('ETag', etag)
  if (route.status === 204) return c.body(null, 204)
  const status = unchanged && route.unchangedStatus ? route.unchangedStatus : route.status
  const { id, name } = (value ?? {}) as { id?: number; name?: string }
  if (status === 201) c.header('Location', `${c.req.path}/${id ?? name}`)
  const preference = acceptsPreference(route) ? parsePreference(c.req.header('Prefer')) : undefined
  if (preference) c.header('Preference-Applied', `return=${preference}`)
  if (preference !== 'minimal') return c.json(value, status)
  return status === 201 ? c.json(id === undefined ? { name } : { id }, 201) : c.body(null, 204)
}

/** Whether the route honours `Prefer: return=minimal`. */
export const acceptsPreference = ({ method, status }: Route) =>
  status === 201 || method === 'put' || method === 'patch'

function parsePreference(header = ''): 'minimal' | 'representation' | undefined {
  const match = /(?:^|[,;\s])return\s*=\s*"?(minimal|representation)"?(?=$|[,;\s])/i.exec(header)
  return match?.[1]?.toLowerCase() as 'minimal' | 'representation' | undefined
}
