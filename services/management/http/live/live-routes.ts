import { EyrieError, id, systemStatistics } from '@eyrie/contract'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import { type Context, Hono } from 'hono'
import type { WebSocket } from 'ws'
import { listLiveChannels } from './live-channels.ts'
import { recordingRoutes } from './recording-routes.ts'
import type { Upstream } from './upstream-client.ts'
import { relay } from './websocket-relay.ts'
import { whepRoutes } from './whep-routes.ts'

export interface LiveDependencies {
  engine: Upstream
  media: Upstream
}

/** What the live page reads: channels, their output and their pictures. */
export function liveRoutes({ engine, media }: LiveDependencies): Hono {
  const app = new Hono()

  app.get('/channels', async c => c.json(await listLiveChannels(engine, media)))

  app.get('/statistics', async c => c.json(await engine.get('/api/v3/statistics', systemStatistics)))

  app.get('/streams/:id/snapshot.jpg', async c => {
    const { body } = await media.fetch(`/streams/${streamId(c)}/snapshot.jpg`)
    return new Response(body, { headers: { 'Content-Type': 'image/jpeg', 'Cache-Control': 'no-store' } })
  })

  app.get(
    '/streams/:id/ws',
    proxy(media, c => `/streams/${streamId(c)}/ws?${viewQuery(c)}`),
  )

  app.route('/streams', whepRoutes(media, streamId))

  app.route('/recordings', recordingRoutes({ engine, media }))

  app.get(
    '/output',
    proxy(engine, c => `/api/v3/output?${outputQuery(c)}`),
  )

  app.all('*', c => {
    throw new EyrieError('id', `there is nothing at ${c.req.path}`)
  })
  return app
}

const proxy = (upstream: Upstream, target: (c: Context) => string) =>
  serveWebSocket(target, path => ({
    onOpen: (_event, client) => void relay(upstream.connect(path), client.raw as WebSocket),
  }))

function streamId(c: Context): number {
  const parsed = id.safeParse(Number(c.req.param('id')))
  if (!parsed.success) throw new EyrieError('id', `"${c.req.param('id')}" is not the id of a stream`)
  return parsed.data
}

/** What the browser plays. */
function viewQuery(c: Context): URLSearchParams {
  const codecs = c.req.query('codecs')
  return new URLSearchParams(codecs === undefined ? {} : { codecs })
}

/** Only what selects messages: a browser may neither bring a token nor acknowledge for a consumer. */
function outputQuery(c: Context): URLSearchParams {
  const query = new URLSearchParams()
  for (const name of ['channels', 'kinds', 'since']) {
    for (const value of c.req.queries(name) ?? []) query.append(name, value)
  }
  return query
}
