import type { ApiDocument } from '@eyrie/kit/api-docs'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import type { Core } from './core.ts'
import { mount } from './mount.ts'
import type { Operation } from './operation.ts'
import { serveOutput } from './output.ts'

/** One revision of the API: where it is, what serves it and what describes it. */
export interface Revision {
  base: string
  app: OpenAPIHono
  document(): ApiDocument
}

/** A revision with its own OpenAPI document, which needs no token. */
export function createRevision(
  letter: 'A' | 'B' | 'C',
  base: string,
  operations: Operation[],
  { version, output }: Pick<Core, 'version' | 'output'>,
  access: MiddlewareHandler,
): Revision {
  const app = new OpenAPIHono()
  const document = () =>
    app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: `Eyrie engine, revision ${letter}`, version },
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
