import { resolve } from 'node:path'
import { EyrieError } from '@eyrie/contract'
import { createErrorHandler, type Dependencies, type Log, type Service } from '@eyrie/kit'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import { METRICS_CONTENT_TYPE } from '@eyrie/kit/prometheus-metrics'
import { Hono, type MiddlewareHandler } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { answerInEnvelope, inEnvelope } from './api/errors.ts'
import { type Backend, createBackend } from './backend.ts'
import { createDatabase } from './db/database.ts'
import type { Database } from './db/open.ts'
import { createDoor } from './door.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { serveConsole } from './routes/console.ts'
import { serveDocs } from './routes/docs.ts'
import { liveRoutes } from './routes/live.ts'
import { type FindView, mediaRoutes } from './routes/media.ts'
import { createUpstream } from './upstream.ts'

/** The console, the API behind it, and the way to engine and media: their tokens stay on this side. */
export function createManagement({ environment, log }: Dependencies): Service {
  const { urls, engineTokens, internalToken } = environment
  const engine = createUpstream({ name: 'engine', url: urls.engine, token: engineTokens[0] })
  const media = createUpstream({ name: 'media', url: urls.media, token: internalToken })

  const { data, databaseUrl } = environment
  const database = createDatabase({ data, url: databaseUrl, log })
  const door = createDoor({ environment, database: database.current, engine, media, log })
  const metrics = createMetrics(database.current)
  let api: Hono | undefined
  let findView: FindView = async () => {
    throw new EyrieError('unavailable', 'management is starting')
  }
  let following: Pick<Backend['events'], 'start' | 'stop'>[] = []

  const follow = (ready: Database) => {
    for (const part of following) part.start(ready)
    void door.provide(ready)
  }

  const app = new Hono()
  app.onError(createErrorHandler(log))
  app.use(addHeaders)
  app.use(door.guard)
  app.route('/', door.routes)
  app.use('/live/*', door.liveAccess)
  app.route('/live', liveRoutes({ engine, media }))
  app.route(
    '/media',
    mediaRoutes(channel_id => findView(channel_id)),
  )
  serveDocs(app)
  app.get('/metrics', async c => c.body(await metrics.text(), 200, { 'Content-Type': METRICS_CONTENT_TYPE }))
  handleMethodNotAllowed(app, '/metrics', ['get'])
  app.route(
    '/api/v1',
    startingApi(log, metrics, () => api),
  )
  serveConsole(app, resolve(import.meta.dirname, 'console/dist'))

  return {
    app,
    errorBody: inEnvelope,
    // Live views do not wait for the database: until it is there, the API is unavailable.
    async start() {
      database.start()
      const localEngine = { url: urls.engine, token: engineTokens[0] }
      const backend = await createBackend({ database: database.current, data, localEngine, log })
      findView = backend.findView
      door.open(backend.users)
      api = new Hono().route('/api/v1', backend.api)
      following = [backend.fleet, backend.events]
      // Where it never comes to be ready, there is nothing to follow.
      database.ready.then(follow, () => {})
    },
    async stop() {
      await Promise.all(following.map(part => part.stop()))
      await database.stop()
    },
    health: () => ({ ok: true, alarms: database.alarms() }),
  }
}

/** The API as it answers from the first moment on. */
function startingApi(log: Log, metrics: Metrics, api: () => Hono | undefined): Hono {
  const app = new Hono()
  app.onError(answerInEnvelope(log))
  app.use(metrics.count)
  app.all('*', c => {
    const present = api()
    if (!present) throw new EyrieError('unavailable', 'management is starting')
    return present.fetch(c.req.raw, c.env)
  })
  return app
}

/** The page of the API has a policy of its own. */
const addHeaders: MiddlewareHandler = (c, next) =>
  (c.req.path === '/docs' ? addHeadersOfDocs : addHeadersOfConsole)(c, next)

const headers = { strictTransportSecurity: false }

/** The console consists of its own files alone; video reaches it as blobs of Media Source Extensions. */
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

const addHeadersOfDocs = secureHeaders(headers)
const addHeadersOfConsole = secureHeaders({ ...headers, contentSecurityPolicy })
