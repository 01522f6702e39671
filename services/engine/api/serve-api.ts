import { EyrieError } from '@eyrie/contract'
import { createDocsPage } from '@eyrie/kit/api-docs'
import { createErrorHandler } from '@eyrie/kit/http-errors'
import type { Log } from '@eyrie/kit/log'
import { mountRoutes } from '@eyrie/kit/mount-routes'
import { serveMetrics } from '@eyrie/kit/prometheus-metrics'
import { limitBodySize } from '@eyrie/kit/request-body'
import { traceRequests } from '@eyrie/kit/tracer'
import type { Hono, MiddlewareHandler } from 'hono'
import { etag } from 'hono/etag'
import { createEngineMetrics } from './engine-metrics.ts'
import type { ApiContext } from './operations/api-context.ts'
import { createOutputEndpoint } from './output-socket.ts'
import {
  type ApiRevision,
  createRevision,
  type DescribedEndpoint,
  toEndpoint,
} from './routing/api-revision.ts'
import { assertInScope, authenticate } from './routing/authentication.ts'
import type { Operation } from './routing/operation.ts'
import { createV1ErrorHandler, createV1Operations } from './v1/v1-operations.ts'
import { createV2Operations } from './v2/v2-operations.ts'
import { createSnapshotEndpoint } from './v3/channel-snapshot-route.ts'
import { createPictureEndpoint } from './v3/event-picture-route.ts'
import { createV3Operations } from './v3/v3-operations.ts'

/** Maximum size of all request bodies but uploads. */
const MAX_BODY_BYTES = 4 << 20
/** The paths to which clients upload plugin packages, which are larger than other bodies. */
const UPLOAD_PATHS: readonly string[] = ['/api/v3/plugins', '/api/v3/plugins/inspection']

export interface ServeOptions {
  /** Tokens that authenticate a client. */
  tokens: readonly string[]
  /** The tokens that may also change plugins. If there are none, all tokens may. */
  pluginTokens: readonly string[]
  /** Maximum size of an uploaded plugin package, in bytes. */
  packageBytes: number
  log: Log
}

/** Serves all revisions of the API, the documentation and the metrics on `app`. */
export function serveApi(app: Hono, context: ApiContext, options: ServeOptions): void {
  const { tokens, packageBytes, log } = options
  app.onError(createErrorHandler(log))
  app.notFound(c =>
    c.json(
      new EyrieError('id', `there is nothing at ${c.req.path}: /docs describes the API`).toBody(),
      404,
    ),
  )
  app.use('/api/*', traceRequests(context.tracer))
  app.use('/api/*', etag())

  const requireToken = authenticate(tokens)
  // The token is checked first, so that no unauthenticated client makes the engine read a body.
  const middleware = [requireToken, limitBodies(packageBytes)]
  const revisions = createRevisions(context, middleware, options)
  for (const { base, app: revisionApp } of revisions) app.route(base, revisionApp)

  const documents = revisions.map(({ document }) => document)
  const metrics = createEngineMetrics(context)
  mountRoutes(app, [
    { method: 'get', path: '/docs', handlers: [createDocsPage('Eyrie engine: API', documents)] },
    { method: 'get', path: '/metrics', handlers: [requireToken, serveMetrics(metrics)] },
  ])
}

/** Limits the size of request bodies. `packageBytes` is the limit of uploads. */
function limitBodies(packageBytes: number): MiddlewareHandler {
  const limitUpload = limitBodySize(packageBytes)
  const limitOrdinaryBody = limitBodySize(MAX_BODY_BYTES)
  return (c, next) =>
    UPLOAD_PATHS.includes(c.req.path) ? limitUpload(c, next) : limitOrdinaryBody(c, next)
}

/**
 * Creates v3, the current revision of the API, and the older revisions v2 and v1, which
 * existing clients use.
 */
function createRevisions(
  context: ApiContext,
  middleware: readonly MiddlewareHandler[],
  { pluginTokens, log }: ServeOptions,
): ApiRevision[] {
  const outputEndpoint = createOutputEndpoint(context.output)
  const toAuthorizedEndpoint = (operation: Operation) =>
    toEndpoint(operation, (c, route) => assertInScope(c, route, pluginTokens))

  function create(
    name: 'v1' | 'v2' | 'v3',
    operations: Operation[],
    pictureEndpoints: DescribedEndpoint[] = [],
  ) {
    const operationEndpoints = operations.map(toAuthorizedEndpoint)
    const endpoints = [outputEndpoint, ...operationEndpoints, ...pictureEndpoints]
    return createRevision({ name, version: context.version, endpoints, middleware })
  }

  const v3 = create('v3', createV3Operations(context), [
    createPictureEndpoint(context.pictures),
    createSnapshotEndpoint(context),
  ])
  const v2 = create('v2', createV2Operations(context))
  const v1 = create('v1', createV1Operations(context))
  v1.app.onError(createV1ErrorHandler(log))
  return [v3, v2, v1]
}
