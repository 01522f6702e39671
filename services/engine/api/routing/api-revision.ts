import type { Route } from '@eyrie/contract/routes-v3'
import { type ApiDocument, createApiDocument } from '@eyrie/kit/api-docs'
import { mountRoutes } from '@eyrie/kit/mount-routes'
import type { RouteConfig } from '@hono/zod-openapi'
import { type Context, type Handler, Hono, type MiddlewareHandler } from 'hono'
import { describeRoute } from './describe-route.ts'
import type { Operation } from './operation.ts'
import { readInput } from './read-request.ts'
import { sendReply } from './send-reply.ts'

/** An endpoint of the engine's HTTP API. */
export interface DescribedEndpoint {
  /** The OpenAPI description of the endpoint, which contains its method and path. */
  description: RouteConfig
  handle: Handler | MiddlewareHandler
}

/** One revision of the API: its base path, the app that serves it and its OpenAPI document. */
export interface ApiRevision {
  base: string
  app: Hono
  /** Returns the OpenAPI document. */
  document(): ApiDocument
}

export interface RevisionOptions {
  name: 'v1' | 'v2' | 'v3'
  /** Version of the engine, for the OpenAPI document. */
  version: string
  endpoints: readonly DescribedEndpoint[]
  /** Runs before all endpoints, but not before the OpenAPI document, which is public. */
  middleware: readonly MiddlewareHandler[]
}

/** Creates a revision of the API. */
export function createRevision({
  name,
  version,
  endpoints,
  middleware,
}: RevisionOptions): ApiRevision {
  const base = `/api/${name}`
  const descriptions = endpoints.map(({ description }) => description)
  const createDocument = () =>
    createApiDocument({
      title: `Eyrie engine API ${name}`,
      version,
      basePath: base,
      routes: descriptions,
    })

  const app = new Hono()
  mountRoutes(app, [
    { method: 'get', path: '/openapi.json', handlers: [c => c.json(createDocument())] },
  ])
  // Hono applies middleware only to the routes that are mounted after it.
  app.use(...middleware)
  const routes = endpoints.map(({ description, handle }) => {
    const { method, path } = description
    return { method, path, handlers: [handle] }
  })
  mountRoutes(app, routes)

  return { base, app, document: createDocument }
}

/**
 * Returns the endpoint that runs an operation. `authorize` throws if the client may not use the
 * route.
 */
export function toEndpoint(
  { route, handle }: Operation,
  authorize: (c: Context, route: Route) => void,
): DescribedEndpoint {
  return {
    description: describeRoute(route),
    handle: async c => {
      authorize(c, route)
      const input = await readInput(c, route)
      const reply = await handle(input)
      return sendReply(c, route, reply)
    },
  }
}
