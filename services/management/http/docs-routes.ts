import { allManagementRoutes } from '@eyrie/contract/management/index'
import { createDocsPage } from '@eyrie/kit/api-docs'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import type { Hono } from 'hono'
import { createDocument } from './api/api-document.ts'

/** Serves the OpenAPI document and its page, which need neither token nor database. */
export function serveDocs(app: Hono, version: string) {
  const document = createDocument(allManagementRoutes, version)
  app.get('/api/v1/openapi.json', c => c.json(document))
  app.get('/docs', createDocsPage('Eyrie management: API', [() => document]))
  for (const path of ['/api/v1/openapi.json', '/docs']) handleMethodNotAllowed(app, path, ['get'])
}
