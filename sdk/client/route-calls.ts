import type { Route } from '@eyrie/contract'
import type { z } from 'zod'

/**
 * Typed methods for the routes of the contract. A method takes the path parameters, the body and
 * the options of its route, as in `client.sink.update(3, body, { ifMatch })`.
 */

/** Options of a call: the query parameters, and the ETag that the resource must have. */
export type CallOptions<R extends Route> = (R extends { query: infer Query extends z.ZodType }
  ? Partial<z.output<Query>>
  : unknown) & { ifMatch?: string }

/** The arguments of a call. Path parameters and body are absent if the route has none. */
export type CallArguments<R extends Route> = [
  ...(R extends { params: infer Params extends z.ZodType } ? [PathArgument<z.output<Params>>] : []),
  ...(R extends { body: infer Body extends z.ZodType } ? [z.input<Body>] : []),
  options?: CallOptions<R>,
]

/** A single path parameter is passed as its value, several as an object. */
type PathArgument<Params> = HasOneKey<keyof Params> extends true ? Params[keyof Params] : Params

/**
 * Distributes over the union of keys: the whole union extends one of its members only if it
 * has a single member.
 */
type HasOneKey<Keys, Key = Keys> = Key extends Keys ? ([Keys] extends [Key] ? true : false) : never

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

/**
 * Creates the methods of the routes, and recursively those of their groups. Each method sends its
 * request with `send` and returns the result.
 */
export function createCalls<R extends Routes>(
  routes: R,
  send: (request: Request) => Promise<unknown>,
): Calls<R> {
  const calls: Record<string, unknown> = {}
  for (const [name, entry] of Object.entries(routes)) {
    if (isRoute(entry)) calls[name] = (...args: unknown[]) => send(createRequest(entry, args))
    else calls[name] = createCalls(entry, send)
  }
  return calls as Calls<R>
}

const isRoute = (entry: Route | Routes): entry is Route => typeof entry.path === 'string'

/** Assigns the arguments of a call, as in `CallArguments`, to the parts of its request. */
function createRequest(route: Route, args: unknown[]): Request {
  const remaining = [...args]
  const params = route.params && remaining.shift()
  const body = route.body && remaining.shift()
  const options = (remaining.shift() ?? {}) as { ifMatch?: string }
  const { ifMatch, ...query } = options
  return {
    method: route.method.toUpperCase(),
    path: formatPath(route, params) + toQueryString(query),
    body,
    type: route.contentType ?? 'application/json',
    ifMatch,
  }
}

/** Replaces `{name}` in the path of a route with the path parameter of that name. */
function formatPath({ path }: Route, params: unknown): string {
  return path.replaceAll(/{(\w+)}/g, (_, name: string) => {
    // A single parameter is passed as its value, several as an object.
    const param = typeof params === 'object' ? (params as Record<string, unknown>)[name] : params
    return encodeURIComponent(String(param))
  })
}

/**
 * Formats a query such as `?a=1,2&b=true`. Lists are separated by commas, undefined values are
 * omitted.
 */
export function toQueryString(query: Record<string, unknown>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value))
  }
  return search.size > 0 ? `?${search}` : ''
}
