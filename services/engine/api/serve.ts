import { EyrieError } from '@eyrie/contract'
import { createDocsPage } from '@eyrie/kit/api-docs'
import { limitBodySize } from '@eyrie/kit/body-limit'
import { createErrorHandler, handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import type { Log } from '@eyrie/kit/log'
import { METRICS_CONTENT_TYPE } from '@eyrie/kit/prometheus-metrics'
import { traceRequests } from '@eyrie/kit/tracer'
import type { Hono } from 'hono'
import { etag } from 'hono/etag'
import { metrics } from '../statistics/metrics.ts'
import { authenticate } from './authentication.ts'
import type { Core } from './core.ts'
import { createRevision } from './revision.ts'
import { answerConflictsBare } from './v1/errors.ts'
import { operationsA } from './v1/operations.ts'
import { operationsB } from './v2/operations.ts'
import { operationsC } from './v3/operations.ts'
import { servePictures } from './v3/pictures.ts'
import { serveSnapshots } from './v3/snapshots.ts'

const MAX_BODY_BYTES = 4 << 20
const UPLOADS = '/api/v3/plugins'

export interface ServeOptions {
  tokens: readonly string[]
  /** Size of an uploaded plugin package at most. */
  packageBytes: number
  log: Log
}

/** Lets `app` serve every revision of the API over one core. */
export function serveApi(app: Hono, core: Core, { tokens, packageBytes, log }: ServeOptions): void {
  app.onError(createErrorHandler(log))
  app.notFound(c =>
    c.json(new EyrieError('id', `there is nothing at ${c.req.path}: see /docs`).toBody(), 404),
  )
  app.use('/api/*', traceRequests(core.tracer))
  const access = authenticate(tokens)
  const [ordinary, upload] = [bodyOf(MAX_BODY_BYTES), bodyOf(packageBytes)]
  // Only who may upload may send so much.
  app.use(UPLOADS, access)
  app.use('/api/*', (c, next) => (c.req.path === UPLOADS ? upload : ordinary)(c, next), etag())
  const latest = createRevision('C', '/api/v3', operationsC(core), core, access)
  servePictures(latest.app, core.pictures)
  serveSnapshots(latest.app, core)
  const earliest = createRevision('A', '/api/v1', operationsA(core), core, access)
  earliest.app.onError(answerConflictsBare(log))
  const revisions = [latest, createRevision('B', '/api/v2', operationsB(core), core, access), earliest]
  for (const { base, app: revision } of revisions) app.route(base, revision)
  app.get(
    '/docs',
    createDocsPage(
      'Eyrie engine: API',
      revisions.map(({ document }) => document),
    ),
  )
  app.get('/metrics', access, async c =>
    c.body(await metrics(core), 200, { 'Content-Type': METRICS_CONTENT_TYPE }),
  )
  for (const path of ['/docs', '/metrics']) handleMethodNotAllowed(app, path, ['get'])
}

const bodyOf = (most: number) =>
  limitBodySize(most, () => new EyrieError('size', `the body is larger than ${describeBytes(most)}`))

const describeBytes = (bytes: number) =>
  bytes % (1 << 20) === 0 ? `${bytes / (1 << 20)} MiB` : `${bytes} bytes`
