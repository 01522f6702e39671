import { EyrieError, id, systemStatistics } from '@eyrie/contract'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import { type Context, Hono } from 'hono'
import type { WebSocket } from 'ws'
import { listLiveChannels } from './live-channels.ts'
import { createRecordingRoutes } from './recording-routes.ts'
import type { Upstream } from './upstream-client.ts'
import { relayWebSocket } from './websocket-relay.ts'
import { createWhepRoutes } from './whep-routes.ts'

export interface LiveDependencies {
  engine: Upstream
  media: Upstream
}

/** Routes of the live page: channels, their output, video and recordings. */
export function createLiveRoutes({ engine, media }: LiveDependencies): Hono {
  const app = new Hono()

  app.get('/channels', async c => c.json(await listLiveChannels(engine, media)))

  app.get('/statistics', async c => c.json(await engine.get('/api/v3/statistics', systemStatistics)))

  app.get('/streams/:id/snapshot.jpg', async c => {
    const { body } = await media.fetch(`/streams/${parseStreamId(c)}/snapshot.jpg`)
    return new Response(body, { headers: { 'Content-Type': 'image/jpeg', 'Cache-Control': 'no-store' } })
  })

  app.get(
    '/streams/:id/ws',
    proxy(media, c => `/streams/${parseStreamId(c)}/ws?${pickViewQuery(c)}`),
  )

  app.route('/streams', createWhepRoutes(media, parseStreamId))

  app.route('/recordings', createRecordingRoutes({ engine, media }))

  app.get(
    '/output',
    proxy(engine, c => `/api/v3/output?${pickOutputQuery(c)}`),
  )

  app.all('*', c => {
    throw new EyrieError('id', `nothing found at ${c.req.path}`)
  })
  return app
}

const proxy = (upstream: Upstream, target: (c: Context) => string) =>
  serveWebSocket(target, path => ({
    onOpen: (_event, client) => void relayWebSocket(upstream.connect(path), client.raw as WebSocket),
  }))

function parseStreamId(c: Context): number {
  const parsed = id.safeParse(Number(c.req.param('id')))
  if (!parsed.success) throw new EyrieError('id', `"${c.req.param('id')}" is not the id of a stream`)
  return parsed.data
}

/** Picks the codecs that the browser plays. */
function pickViewQuery(c: Context): URLSearchParams {
  const codecs = c.req.query('codecs')
  return new URLSearchParams(codecs === undefined ? {} : { codecs })
}

/** Picks the parameters that select messages. A browser must neither send a token nor acknowledge for a consumer. */
function pickOutputQuery(c: Context): URLSearchParams {
  const query = new URLSearchParams()
  for (const name of ['channels', 'kinds', 'since']) {
    for (const value of c.req.queries(name) ?? []) query.append(name, value)
  }
  return query
}
