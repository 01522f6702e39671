import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog, readEnvironment } from '@eyrie/kit'
import type { ApiDocument } from '@eyrie/kit/api-docs'
import { Hono } from 'hono'
import { createEngine } from '../../services/engine/engine.ts'
import { serveApiDocument } from '../../services/management/http/api/api-document.ts'
import manifest from '../../services/management/package.json' with { type: 'json' }

export type Revision = 'v1' | 'v2' | 'v3'

export interface ApiDocuments {
  engine: Record<Revision, ApiDocument>
  management: ApiDocument
}

/**
 * Returns the OpenAPI documents of the engine and the management service. The services run in this
 * process, without ports.
 */
export async function readDocuments(): Promise<ApiDocuments> {
  const data = await mkdtemp(join(tmpdir(), 'eyrie-reference-'))
  const log = createLog('reference', 'silent')
  const engine = createEngine({ environment: readEnvironment({ EYRIE_DATA: data }), log })
  const management = new Hono()
  serveApiDocument(management, manifest.version)
  try {
    await engine.start()
    return {
      engine: {
        v1: await fetchDocument(engine.app, 'v1'),
        v2: await fetchDocument(engine.app, 'v2'),
        v3: await fetchDocument(engine.app, 'v3'),
      },
      management: await fetchDocument(management, 'v1'),
    }
  } finally {
    await engine.stop()
    await rm(data, { recursive: true })
  }
}

async function fetchDocument(app: Hono, revision: Revision): Promise<ApiDocument> {
  const response = await app.request(`/api/${revision}/openapi.json`)
  return (await response.json()) as ApiDocument
}
