import { EyrieError } from '@eyrie/contract'
import { createDocsPage } from '@eyrie/kit/api-docs'
import { limitBodySize } from '@eyrie/kit/body-limit'
import { createErrorHandler, handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import type { Log } from '@eyrie/kit/log'
import { METRICS_CONTENT_TYPE } from '@eyrie/kit/prometheus-metrics'
import { traceRequests } from '@eyrie/kit/tracer'
import type { Hono } from 'hono'
import { etag } from 'hono/etag'
import { createRevision } from './api-revision.ts'
import { formatMetrics } from './metrics.ts'
import type { ApiContext } from './operations/api-context.ts'
import { authenticate } from './routing/authentication.ts'
import { answerV1Errors, createV1Operations } from './v1/v1-operations.ts'
import { createV2Operations } from './v2/v2-operations.ts'
import { serveSnapshots } from './v3/channel-snapshot-route.ts'
import { servePictures } from './v3/event-picture-route.ts'
import { createV3Operations } from './v3/v3-operations.ts'

const MAX_BODY_BYTES = 4 << 20
const UPLOADS = '/api/v3/plugins'

export interface ServeOptions {
  tokens: readonly string[]
  /** Size of an uploaded plugin package at most. */
  packageBytes: number
  log: Log
}

/** Lets `app` serve every revision of the API over one context. */
export function serveApi(app: Hono, context: ApiContext, { tokens, packageBytes, log }: ServeOptions): void {
  app.onError(createErrorHandler(log))
  app.notFound(c =>
    c.json(new EyrieError('id', `there is nothing at ${c.req.path}: see /docs`).toBody(), 404),
  )
  app.use('/api/*', traceRequests(context.tracer))
  const access = authenticate(tokens)
  const [ordinary, upload] = [bodyOf(MAX_BODY_BYTES), bodyOf(packageBytes)]
  // Only who may upload may send so much.
  app.use(UPLOADS, access)
  app.use('/api/*', (c, next) => (c.req.path === UPLOADS ? upload : ordinary)(c, next), etag())
  const v3 = createRevision('v3', createV3Operations(context), context, access)
  servePictures(v3.app, context.pictures)
  serveSnapshots(v3.app, context)
  const v2 = createRevision('v2', createV2Operations(context), context, access)
  const v1 = createRevision('v1', createV1Operations(context), context, access)
  v1.app.onError(answerV1Errors(log))
  const revisions = [v3, v2, v1]
  for (const { base, app: revision } of revisions) app.route(base, revision)
  app.get(
    '/docs',
    createDocsPage(
      'Eyrie engine: API',
      revisions.map(({ document }) => document),
    ),
  )
  app.get('/metrics', access, async c =>
    c.body(await formatMetrics(context), 200, { 'Content-Type': METRICS_CONTENT_TYPE }),
  )
  for (const path of ['/docs', '/metrics']) handleMethodNotAllowed(app, path, ['get'])
}

const bodyOf = (most: number) =>
  limitBodySize(most, () => new EyrieError('size', `the body is larger than ${describeBytes(most)}`))

const describeBytes = (bytes: number) =>
  bytes % (1 << 20) === 0 ? `${bytes / (1 << 20)} MiB` : `${bytes} bytes`
