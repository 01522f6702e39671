import type { Route } from '@eyrie/contract/routes-v3'
import type { z } from 'zod'

/** The type that a schema of a route parses to; undefined without a schema. */
type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined
/** The type of a part of a request, such as its query; undefined if the route has no such part. */
type Part<R, Name extends string> = Name extends keyof R ? Parsed<R[Name]> : undefined

/** The parts of a request, validated with the schemas of the route. */
export interface Input<R extends Route> {
  params: Part<R, 'params'>
  query: Part<R, 'query'>
  body: Part<R, 'body'>
  ifMatch: string | undefined
  /** IP address of the client. */
  client: string
}

/** The result of a handler. `value` is omitted if the route has no response body. */
export interface Reply<Value = unknown> {
  value?: Value
  etag?: string
  /** The object to create already exists with the same content. */
  unchanged?: boolean
}

/** An operation of the API: a route, and the handler that runs when a client requests the route. */
export interface Operation {
  route: Route
  handle(input: Input<Route>): Reply | Promise<Reply>
}

/** Binds a handler to a route. The schemas of the route define the types of its input and reply. */
export function operation<const R extends Route>(
  route: R,
  handle: (input: Input<R>) => Reply<Parsed<R['response']>> | Promise<Reply<Parsed<R['response']>>>,
): Operation {
  // `Operation` does not know the types of this route, so the input, which `readInput` has
  // validated, needs a cast.
  return { route, handle: input => handle(input as never) }
}

/**
 * Binds a function that returns only the response body to a route, for replies
 * without an entity tag.
 */
export function valueOperation<const R extends Route>(
  route: R,
  getValue: (input: Input<R>) => Parsed<R['response']> | Promise<Parsed<R['response']>>,
): Operation {
  return operation(route, async input => ({ value: await getValue(input) }))
}
