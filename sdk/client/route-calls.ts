import type { Route } from '@eyrie/contract'
import type { z } from 'zod'

/** Options of a call: its query parameters and the expected ETag of the resource. */
export type CallOptions<R extends Route> = (R extends { query: infer Query extends z.ZodType }
  ? Partial<z.output<Query>>
  : unknown) & { ifMatch?: string }

/** The path parameter (an object if there are several), the body and the options, as far as the route has them. */
export type CallArguments<R extends Route> = [
  ...(R extends { params: infer Params extends z.ZodType } ? [Parameter<z.output<Params>>] : []),
  ...(R extends { body: infer Body extends z.ZodType } ? [z.input<Body>] : []),
  options?: CallOptions<R>,
]
type Parameter<Params> = IsOne<keyof Params> extends true ? Params[keyof Params] : Params
type IsOne<Key, Each = Key> = Each extends Key ? ([Key] extends [Each] ? true : false) : never

export type CallResult<R extends Route> = R['response'] extends z.ZodType
  ? z.output<R['response']>
  : undefined

/** One method for each route, grouped as in the contract. */
export type Calls<Routes> = {
  readonly [Name in keyof Routes]: Routes[Name] extends Route
    ? (...args: CallArguments<Routes[Name]>) => Promise<CallResult<Routes[Name]>>
    : Calls<Routes[Name]>
}

/** The HTTP request of a call. */
export interface Request {
  method: string
  path: string
  body: unknown
  /** Media type of the body. */
  type: string
  ifMatch: string | undefined
}

type Routes = { readonly [name: string]: Route | Routes }

/** Creates one method for each route, which sends its request with `send`. */
export function createCalls<R extends Routes>(
  routes: R,
  send: (request: Request) => Promise<unknown>,
): Calls<R> {
  const calls = Object.entries(routes).map(([name, entry]) => [
    name,
    isRoute(entry) ? (...args: unknown[]) => send(createRequest(entry, args)) : createCalls(entry, send),
  ])
  return Object.fromEntries(calls)
}

const isRoute = (entry: Route | Routes): entry is Route => typeof entry.path === 'string'

function createRequest(route: Route, args: unknown[]): Request {
  const rest = [...args]
  const params = route.params && rest.shift()
  const body = route.body && rest.shift()
  const { ifMatch, ...query } = (rest.shift() ?? {}) as { ifMatch?: string }
  return {
    method: route.method.toUpperCase(),
    path: formatPath(route, params) + toQueryString(query),
    body,
    type: route.contentType ?? 'application/json',
    ifMatch,
  }
}

function formatPath({ path }: Route, params: unknown): string {
  const getParam = (name: string) =>
    typeof params === 'object' ? (params as Record<string, unknown>)[name] : params
  return path.replaceAll(/{(\w+)}/g, (_, name) => encodeURIComponent(String(getParam(name))))
}

/** Formats a query such as `?a=1,2&b=true`. Lists are separated by commas, undefined values are omitted. */
export function toQueryString(query: Record<string, unknown>): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(Object.fromEntries(entries.map(([name, value]) => [name, String(value)])))
  return text.size > 0 ? `?${text}` : ''
}
