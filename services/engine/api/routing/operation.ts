import type { Route } from '@eyrie/contract/routes-v3'
import type { z } from 'zod'

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined
type Part<R, Name extends string> = Name extends keyof R ? Parsed<R[Name]> : undefined

/** A request whose parts have been checked against the route's schemas. */
export interface Input<R extends Route> {
  params: Part<R, 'params'>
  query: Part<R, 'query'>
  body: Part<R, 'body'>
  ifMatch: string | undefined
}

/** What a handler answers; `value` is left out where the route answers without a body. */
export interface Reply<Value = unknown> {
  value?: Value
  etag?: string
  /** What was to be created is there already, as it should be. */
  unchanged?: boolean
}

/** A route of the contract with what it does. */
export interface Operation {
  route: Route
  handle(input: Input<Route>): Reply | Promise<Reply>
}

/** Binds a handler to a route, whose schemas give the types of what it takes and answers. */
export function operation<const R extends Route>(
  route: R,
  handle: (input: Input<R>) => Reply<Parsed<R['response']>> | Promise<Reply<Parsed<R['response']>>>,
): Operation {
  return { route, handle: input => handle(input as never) }
}
