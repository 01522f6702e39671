import { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import type { Core } from '../core.ts'
import type { Revision } from '../docs.ts'
import { mount } from '../mount.ts'
import { operationsC } from './operations.ts'
import { serveOutput } from './output.ts'

/** Revision C of the API, with its own OpenAPI document, which needs no token. */
export function createRevisionC(core: Core, authenticate: MiddlewareHandler): Revision {
  const app = new OpenAPIHono()
  const document = () =>
    app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: 'Eyrie engine, revision C', version: core.version },
      servers: [{ url: '/api/v3' }],
    })
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' })
  app.get('/openapi.json', c => c.json(document()))
  app.use(authenticate)
  serveOutput(app, core.output)
  mount(app, operationsC(core))
  return { app, document }
}
