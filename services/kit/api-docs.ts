import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi'
import type { Handler } from 'hono'
import { html } from 'hono/html'
import type { z } from 'zod'

/** An OpenAPI document, which describes the routes and schemas of an HTTP API. */
export type ApiDocument = ReturnType<OpenAPIHono['getOpenAPI31Document']>

/** An API from whose routes a document is generated. */
export interface ApiDescription {
  title: string
  version: string
  /** Path that precedes the paths of all routes. */
  basePath: string
  routes: readonly RouteConfig[]
}

/** Creates the OpenAPI 3.1 document of an API whose callers authenticate with bearer tokens. */
export function createApiDocument({
  title,
  version,
  basePath,
  routes,
}: ApiDescription): ApiDocument {
  const { openAPIRegistry, getOpenAPI31Document } = new OpenAPIHono()
  openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' })
  for (const route of routes) openAPIRegistry.registerPath(route)
  return getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title, version },
    servers: [{ url: basePath }],
  })
}

/** The OpenAPI description of a JSON body. */
export const jsonContent = (schema: z.ZodType) => ({ 'application/json': { schema } })

/**
 * Creates the handler of a documentation page for OpenAPI documents. The page needs no scripts
 * and no internet access.
 */
export function createDocsPage(title: string, getDocuments: (() => ApiDocument)[]): Handler {
  return c => {
    c.header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
    return c.html(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
  code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
  pre { background: light-dark(#f3f4f7, #242a33); padding: 0.75rem; overflow-x: auto; border-radius: 6px; }
  summary { cursor: pointer; padding: 0.25rem 0; }
  .method { display: inline-block; width: 4.5rem; font-weight: 600; text-transform: uppercase; color: light-dark(#2456a6, #8ab4f8); }
  .summary { color: light-dark(#5a6470, #9aa5b1); margin-left: 0.75rem; }
</style>
</head>
<body>${getDocuments.map(getDocument => renderDocument(getDocument()))}</body>
</html>`)
  }
}

/** Renders the title of a document, its operations and its schemas. */
function renderDocument({ info, servers, paths, components }: ApiDocument) {
  const basePath = servers?.[0]?.url ?? ''
  const pathItems = Object.entries(paths ?? {})
  const schemas = Object.entries(components?.schemas ?? {})
  return html`
<h1>${info.title}</h1>
<p>Version ${info.version}; OpenAPI document: <a href="${basePath}/openapi.json">${basePath}/openapi.json</a></p>
${pathItems.map(([path, operations]) => renderOperations(basePath + path, operations as Operations))}
<h2>Schemas</h2>
${schemas.map(([name, schema]) => renderSchema(name, schema))}`
}

/** The operations of a path by HTTP method. */
type Operations = Record<string, { summary?: string }>

function renderOperations(path: string, operations: Operations) {
  return Object.entries(operations).map(
    ([method, operation]) => html`
<details>
  <summary><span class="method">${method}</span><code>${path}</code><span class="summary">${operation.summary}</span></summary>
  ${renderJson(operation)}
</details>`,
  )
}

const renderSchema = (name: string, schema: unknown) =>
  html`<details><summary><code>${name}</code></summary>${renderJson(schema)}</details>`

const renderJson = (value: unknown) => html`<pre>${JSON.stringify(value, null, 2)}</pre>`
