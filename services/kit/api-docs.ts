import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Handler } from 'hono'
import { html } from 'hono/html'

export type ApiDocument = ReturnType<OpenAPIHono['getOpenAPI31Document']>

/** Creates the handler of a page that renders OpenAPI documents without scripts, so that it works offline. */
export function createDocsPage(title: string, documents: (() => ApiDocument)[]): Handler {
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
<body>${documents.map(document => section(document()))}</body>
</html>`)
  }
}

function section({ info, servers, paths, components }: ApiDocument) {
  const base = servers?.[0]?.url ?? ''
  return html`
<h1>${info.title}</h1>
<p>Version ${info.version}; OpenAPI document: <a href="${base}/openapi.json">${base}/openapi.json</a></p>
${Object.entries(paths ?? {}).map(([path, operations]) =>
  Object.entries(operations as object).map(
    ([method, operation]) => html`
<details>
  <summary><span class="method">${method}</span><code>${base}${path}</code><span class="summary">${operation.summary}</span></summary>
  ${json(operation)}
</details>`,
  ),
)}
<h2>Schemas</h2>
${Object.entries(components?.schemas ?? {}).map(
  ([name, schema]) => html`<details><summary><code>${name}</code></summary>${json(schema)}</details>`,
)}`
}

const json = (value: unknown) => html`<pre>${JSON.stringify(value, null, 2)}</pre>`
