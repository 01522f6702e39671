import type { Route } from '@eyrie/contract/routes-v3'
import type { Context } from 'hono'
import type { Reply } from './operation.ts'

/** Answers as the route says, shortened where a write asked for `Prefer: return=minimal` (RFC 7240). */
export function reply(c: Context, route: Route, { value, etag, unchanged }: Reply): Response {
  if (etag) c.header('ETag', etag)
  if (route.status === 204) return c.body(null, 204)
  const status = unchanged && route.unchangedStatus ? route.unchangedStatus : route.status
  const { id, name } = (value ?? {}) as { id?: number; name?: string }
  if (status === 201) c.header('Location', `${c.req.path}/${id ?? name}`)
  const preference = isWrite(route) ? preferenceOf(c) : undefined
  if (preference) c.header('Preference-Applied', `return=${preference}`)
  if (preference !== 'minimal') return c.json(value, status)
  return status === 201 ? c.json(id === undefined ? { name } : { id }, 201) : c.body(null, 204)
}

/** Whether it answers as short as it is asked to. */
export const isWrite = ({ method, status }: Route) => status === 201 || method === 'put' || method === 'patch'

function preferenceOf(c: Context): 'minimal' | 'representation' | undefined {
  const asked = /(?:^|[,;\s])return\s*=\s*"?(minimal|representation)"?(?=$|[,;\s])/i.exec(
    c.req.header('Prefer') ?? '',
  )
  return asked?.[1]?.toLowerCase() as 'minimal' | 'representation' | undefined
}
