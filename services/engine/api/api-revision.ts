import type { ApiDocument } from '@eyrie/kit/api-docs'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import type { ApiContext } from './operations/api-context.ts'
import { serveOutput } from './output-socket.ts'
import { mountOperations } from './routing/mount-operations.ts'
import type { Operation } from './routing/operation.ts'

/** One revision of the API: its base path, the app that serves it and its OpenAPI document. */
export interface ApiRevision {
  base: string
  app: OpenAPIHono
  document(): ApiDocument
}

/** Creates a revision of the API. Its OpenAPI document is served without authentication. */
export function createRevision(
  name: 'v1' | 'v2' | 'v3',
  operations: Operation[],
  { version, output }: Pick<ApiContext, 'version' | 'output'>,
  authentication: MiddlewareHandler,
): ApiRevision {
  const base = `/api/${name}`
  const app = new OpenAPIHono()
  const document = () =>
    app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: `Eyrie engine API ${name}`, version },
      servers: [{ url: base }],
    })
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' })
  app.get('/openapi.json', c => c.json(document()))
  handleMethodNotAllowed(app, '/openapi.json', ['get'])
  app.use(authentication)
  serveOutput(app, output)
  mountOperations(app, operations)
  return { base, app, document }
}
