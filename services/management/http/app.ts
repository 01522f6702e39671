import { createErrorHandler, type Log } from '@eyrie/kit'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import { METRICS_CONTENT_TYPE } from '@eyrie/kit/prometheus-metrics'
import { Hono, type MiddlewareHandler } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import type { Users } from '../users/users.ts'
import { type AccessControlOptions, addAccessControl } from './access-control.ts'
import { answerInEnvelope } from './api/api-errors.ts'
import { serveConsole } from './console-files.ts'
import { serveDocs } from './docs-routes.ts'
import { liveRoutes } from './live/live-routes.ts'
import { type FindView, mediaRoutes } from './live/ticket-view-routes.ts'
import { createMetrics, type Metrics } from './metrics.ts'

/** What exists only after management has started. */
export interface StartedServices {
  /** The management API without its prefix `/api/v1`. */
  api: Hono
  users: Users
  findView: FindView
}

export interface AppOptions extends Omit<AccessControlOptions, 'users'> {
  /** Throws `EyrieError` (`unavailable`) until management has started. */
  services(): StartedServices
  /** Folder of the built console. */
  consoleFolder: string
  /** Version of the management API. */
  version: string
  log: Log
}

/** All routes of management. Live views work before the API, which waits for `services`. */
export function createApp({ services, consoleFolder, version, log, ...options }: AppOptions): Hono {
  const { database, engine, media } = options
  const metrics = createMetrics(database)
  const app = new Hono()
  app.onError(createErrorHandler(log))
  app.use(addSecurityHeaders)
  addAccessControl(app, { ...options, users: () => services().users })
  app.route('/live', liveRoutes({ engine, media }))
  app.route(
    '/media',
    mediaRoutes(async channel_id => services().findView(channel_id)),
  )
  serveDocs(app, version)
  app.get('/metrics', async c => c.body(await metrics.text(), 200, { 'Content-Type': METRICS_CONTENT_TYPE }))
  handleMethodNotAllowed(app, '/metrics', ['get'])
  app.route(
    '/api/v1',
    createApiProxy(log, metrics, () => services().api),
  )
  serveConsole(app, consoleFolder)
  return app
}

/** Forwards requests to the API, which does not exist yet when the routes are added. */
function createApiProxy(log: Log, metrics: Metrics, findApi: () => Hono): Hono {
  const app = new Hono()
  let mountedApi: Hono | undefined
  app.onError(answerInEnvelope(log))
  app.use(metrics.count)
  app.all('*', c => {
    mountedApi ??= new Hono().route('/api/v1', findApi())
    return mountedApi.fetch(c.req.raw, c.env)
  })
  return app
}

/** The page of the API sets a content security policy of its own. */
const addSecurityHeaders: MiddlewareHandler = (c, next) =>
  (c.req.path === '/docs' ? addDocsHeaders : addConsoleHeaders)(c, next)

const headers = { strictTransportSecurity: false }

/** The console loads only its own files; Media Source Extensions play video from blobs. */
const contentSecurityPolicy = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  mediaSrc: ["'self'", 'blob:'],
  connectSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
}

const addDocsHeaders = secureHeaders(headers)
const addConsoleHeaders = secureHeaders({ ...headers, contentSecurityPolicy })
