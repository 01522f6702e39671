import { allManagementRoutes } from '@eyrie/contract/management/index'
import { createDocsPage } from '@eyrie/kit/api-docs'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import type { Hono } from 'hono'
import { createDocument } from '../api/document.ts'
import manifest from '../package.json' with { type: 'json' }

/** What the API is, for programs and for people; it needs no token and no database. */
export function serveDocs(app: Hono) {
  const document = createDocument(allManagementRoutes, manifest.version)
  app.get('/api/v1/openapi.json', c => c.json(document))
  app.get('/docs', createDocsPage('Eyrie management: API', [() => document]))
  for (const path of ['/api/v1/openapi.json', '/docs']) handleMethodNotAllowed(app, path, ['get'])
}
