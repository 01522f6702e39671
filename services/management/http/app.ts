import { createErrorHandler, type Egress, type Log } from '@eyrie/kit'
import { mountRoutes } from '@eyrie/kit/mount-routes'
import { serveMetrics } from '@eyrie/kit/prometheus-metrics'
import { Hono, type MiddlewareHandler } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import type { Users } from '../users/users.ts'
import { type AccessControlOptions, addAccessControl } from './access-control.ts'
import { serveApiDocument } from './api/api-document.ts'
import { createApiErrorHandler } from './api/api-errors.ts'
import { isSecure } from './auth/console-cookie.ts'
import { serveConsole } from './console-files.ts'
import { createLiveRoutes } from './live/live-routes.ts'
import { createTicketViewRoutes, type FindView } from './live/ticket-view-routes.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { createSchedulerRoutes, type SchedulerServices } from './scheduler/scheduler-routes.ts'
import { createUnsubscribeRoutes } from './unsubscribe-routes.ts'

/** A browser that has reached the appliance over TLS uses only TLS for a year (RFC 6797). */
const STRICT_TRANSPORT_SECURITY = 'max-age=31536000'

/** The parts of the management service that exist only after it has started. */
export interface StartedServices {
  /** The management API, without the prefix `/api/v1`. */
  api: Hono
  users: Users
  findView: FindView
  scheduler: SchedulerServices
}

export interface AppOptions extends Omit<AccessControlOptions, 'users'> {
  /** Throws `EyrieError` (`unavailable`) until the management service has started. */
  services(): StartedServices
  /** The token with which the scheduler authenticates. Undefined without a scheduler. */
  schedulerToken: string | undefined
  /** Opens the connections to the media services of registered engines. */
  egress: Egress
  /** Folder of the built console. */
  consoleFolder: string
  /** Version of the management API. */
  version: string
}

/**
 * Creates the web server with all routes of the management service. Live views work at once. The
 * API works when the management service has started.
 */
export function createApp(options: AppOptions): Hono {
  const { database, services, schedulerToken, engine, media, egress, log } = options
  const metrics = createMetrics(database)
  const app = new Hono()
  app.onError(createErrorHandler(log))
  app.use(addSecurityHeaders)

  // Comes before the check of the origin, because the token of the page is its only permission. A
  // browser sends `Origin: null` from the page, whose referrer policy hides the token.
  app.route('/', createUnsubscribeRoutes({ database, secrets: () => services().scheduler.secrets }))

  // Access control comes before all other routes: its middleware protects the live views below.
  addAccessControl(app, { ...options, users: () => services().users })
  app.route('/live', createLiveRoutes({ engine, media }))
  const findView: FindView = async channelId => services().findView(channelId)
  const ticketViewOptions = { findView, database, users: () => services().users, egress }
  app.route('/media', createTicketViewRoutes(ticketViewOptions))

  const schedulerOptions = { token: schedulerToken, database, services: () => services().scheduler }
  app.route('/', createSchedulerRoutes(schedulerOptions))

  serveApiDocument(app, options.version)
  mountRoutes(app, [
    { method: 'get', path: '/metrics', handlers: [serveMetrics(metrics.registry)] },
  ])
  app.route(
    '/api/v1',
    createApiForwarder(log, metrics, () => services().api),
  )

  // The console answers all other paths.
  serveConsole(app, options.consoleFolder)
  return app
}

/** Forwards requests to the API, which does not exist yet when the routes are added. */
function createApiForwarder(log: Log, metrics: Metrics, getApi: () => Hono): Hono {
  const app = new Hono()
  let mountedApi: Hono | undefined
  app.onError(createApiErrorHandler(log))
  app.use(metrics.count)
  app.all('*', c => {
    mountedApi ??= new Hono().route('/api/v1', getApi())
    return mountedApi.fetch(c.req.raw, c.env)
  })
  return app
}

/** The console loads only its own files; Media Source Extensions play video from blobs. */
const CONTENT_SECURITY_POLICY = {
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

/** Only responses over TLS may contain this header. `addSecurityHeaders` adds it to them. */
const WITHOUT_STRICT_TRANSPORT = { strictTransportSecurity: false }
/** The page of the API documentation sets its own content security policy. */
const addDocsHeaders = secureHeaders(WITHOUT_STRICT_TRANSPORT)
const addConsoleHeaders = secureHeaders({
  ...WITHOUT_STRICT_TRANSPORT,
  contentSecurityPolicy: CONTENT_SECURITY_POLICY,
})

const addSecurityHeaders: MiddlewareHandler = async (c, next) => {
  await (c.req.path === '/docs' ? addDocsHeaders : addConsoleHeaders)(c, next)
  if (isSecure(c)) c.res.headers.set('Strict-Transport-Security', STRICT_TRANSPORT_SECURITY)
}
