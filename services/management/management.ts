import { resolve } from 'node:path'
import { EyrieError } from '@eyrie/contract'
import { answerErrors, type Dependencies, type Log, type Service } from '@eyrie/kit'
import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { answerInEnvelope } from './api/errors.ts'
import { createBackend } from './backend.ts'
import { createDatabase } from './db/database.ts'
import { serveConsole } from './routes/console.ts'
import { serveDocs } from './routes/docs.ts'
import { guard } from './routes/guard.ts'
import { liveRoutes } from './routes/live.ts'
import { createUpstream } from './upstream.ts'

/** The console, the API behind it, and the way to engine and media: their tokens stay on this side. */
export function createManagement({ environment, log }: Dependencies): Service {
  const { urls, engineTokens, internalToken } = environment
  const engine = createUpstream({ name: 'engine', url: urls.engine, token: engineTokens[0] })
  const media = createUpstream({ name: 'media', url: urls.media, token: internalToken })

  const { data, databaseUrl } = environment
  const database = createDatabase({ data, url: databaseUrl, log })
  let api: Hono | undefined

  const app = new Hono()
  app.onError(answerErrors(log))
  app.use(secureHeaders({ contentSecurityPolicy, strictTransportSecurity: false }))
  app.use(guard)
  app.route('/live', liveRoutes({ engine, media }))
  serveDocs(app)
  app.route(
    '/api/v1',
    startingApi(log, () => api),
  )
  serveConsole(app, resolve(import.meta.dirname, 'console/dist'))

  return {
    app,
    // There is no login yet.
    host: '127.0.0.1',
    // Live views do not wait for the database: until it is there, the API is unavailable.
    async start() {
      database.start()
      const backend = await createBackend({ database: database.current, data, log })
      api = new Hono().route('/api/v1', backend.api)
    },
    stop: database.stop,
    health: () => ({ ok: true, alarms: database.alarms() }),
  }
}

/** The API as it answers from the first moment on. */
function startingApi(log: Log, api: () => Hono | undefined): Hono {
  const app = new Hono()
  app.onError(answerInEnvelope(log))
  app.all('*', c => {
    const ready = api()
    if (!ready) throw new EyrieError('unavailable', 'management is starting')
    return ready.fetch(c.req.raw, c.env)
  })
  return app
}

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
