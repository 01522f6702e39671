import { allManagementRoutes } from '@eyrie/contract/management/index'
import { docsPage } from '@eyrie/kit/api-docs'
import { refuseOtherMethods } from '@eyrie/kit/other-methods'
import type { Hono } from 'hono'
import manifest from '../package.json' with { type: 'json' }
import { createDocument } from './api/api-document.ts'

/** What the API is, for programs and for people; it needs no token and no database. */
export function serveDocs(app: Hono) {
  const document = createDocument(allManagementRoutes, manifest.version)
  app.get('/api/v1/openapi.json', c => c.json(document))
  app.get('/docs', docsPage('Eyrie management: API', [() => document]))
  for (const path of ['/api/v1/openapi.json', '/docs']) refuseOtherMethods(app, path, ['get'])
}
