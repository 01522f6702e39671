import type { ApiDocument } from '@eyrie/kit/api-docs'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import type { ApiContext } from './operations/api-context.ts'
import { serveOutput } from './output-socket.ts'
import { mount } from './routing/mount-operations.ts'
import type { Operation } from './routing/operation.ts'

/** One revision of the API: where it is, what serves it and what describes it. */
export interface Revision {
  base: string
  app: OpenAPIHono
  document(): ApiDocument
}

/** A revision with its own OpenAPI document, which needs no token. */
export function createRevision(
  name: 'v1' | 'v2' | 'v3',
  operations: Operation[],
  { version, output }: Pick<ApiContext, 'version' | 'output'>,
  access: MiddlewareHandler,
): Revision {
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
  app.use(access)
  serveOutput(app, output)
  mount(app, operations)
  return { base, app, document }
}
