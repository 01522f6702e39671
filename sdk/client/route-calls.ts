import type { Route } from '@eyrie/contract'
import type { z } from 'zod'

/** What besides parameters and body goes with a call: its query, and the tag that a resource must still have. */
export type CallOptions<R extends Route> = (R extends { query: infer Query extends z.ZodType }
  ? Partial<z.output<Query>>
  : unknown) & { ifMatch?: string }

/** The parameter in the path (several: by their names), the body, and options, each where the route has it. */
export type CallArguments<R extends Route> = [
  ...(R extends { params: infer Params extends z.ZodType } ? [Parameter<z.output<Params>>] : []),
  ...(R extends { body: infer Body extends z.ZodType } ? [z.input<Body>] : []),
  options?: CallOptions<R>,
]
type Parameter<Params> = IsOne<keyof Params> extends true ? Params[keyof Params] : Params
type IsOne<Key, Each = Key> = Each extends Key ? ([Key] extends [Each] ? true : false) : never

export type CallAnswer<R extends Route> = R['response'] extends z.ZodType
  ? z.output<R['response']>
  : undefined

/** A method for each route, in the groups that the contract has. */
export type Calls<Routes> = {
  readonly [Name in keyof Routes]: Routes[Name] extends Route
    ? (...given: CallArguments<Routes[Name]>) => Promise<CallAnswer<Routes[Name]>>
    : Calls<Routes[Name]>
}

/** A call as it is sent. */
export interface Request {
  method: string
  path: string
  body: unknown
  /** Media type of the body. */
  type: string
  ifMatch: string | undefined
}

type Routes = { readonly [name: string]: Route | Routes }

/** Makes a method of each route, which hands `send` what it was called with. */
export function createCalls<R extends Routes>(
  routes: R,
  send: (request: Request) => Promise<unknown>,
): Calls<R> {
  const calls = Object.entries(routes).map(([name, entry]) => [
    name,
    isRoute(entry) ? (...given: unknown[]) => send(requestOf(entry, given)) : createCalls(entry, send),
  ])
  return Object.fromEntries(calls)
}

const isRoute = (entry: Route | Routes): entry is Route => typeof entry.path === 'string'

function requestOf(route: Route, given: unknown[]): Request {
  const rest = [...given]
  const params = route.params && rest.shift()
  const body = route.body && rest.shift()
  const { ifMatch, ...query } = (rest.shift() ?? {}) as { ifMatch?: string }
  return {
    method: route.method.toUpperCase(),
    path: pathOf(route, params) + toQueryString(query),
    body,
    type: route.contentType ?? 'application/json',
    ifMatch,
  }
}

function pathOf({ path }: Route, params: unknown): string {
  const named = (name: string) =>
    typeof params === 'object' ? (params as Record<string, unknown>)[name] : params
  return path.replaceAll(/{(\w+)}/g, (_, name) => encodeURIComponent(String(named(name))))
}

/** `?a=1,2&b=true`: lists separated by commas; what is undefined is left out. */
export function toQueryString(query: Record<string, unknown>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))
  return text.size > 0 ? `?${text}` : ''
}
