import { resolve } from 'node:path'
import { answerErrors, type Dependencies, type Service } from '@eyrie/kit'
import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { serveConsole } from './routes/console.ts'
import { guard } from './routes/guard.ts'
import { liveRoutes } from './routes/live.ts'
import { createUpstream } from './upstream.ts'

/** The console, and the way from it to engine and media: their tokens stay on this side. */
export function createManagement({ environment, log }: Dependencies): Service {
  const { urls, engineTokens, internalToken } = environment
  const engine = createUpstream({ name: 'engine', url: urls.engine, token: engineTokens[0] })
  const media = createUpstream({ name: 'media', url: urls.media, token: internalToken })

  const app = new Hono()
  app.onError(answerErrors(log))
  app.use(secureHeaders({ contentSecurityPolicy, strictTransportSecurity: false }))
  app.use(guard)
  app.route('/live', liveRoutes({ engine, media }))
  serveConsole(app, resolve(import.meta.dirname, 'console/dist'))

  return {
    app,
    // There is no login yet.
    host: '127.0.0.1',
    async start() {},
    async stop() {},
    health: () => ({ ok: true }),
  }
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
