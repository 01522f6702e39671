import { EyrieError, id, systemStatistics } from '@eyrie/contract'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import { type Context, Hono } from 'hono'
import type { WebSocket } from 'ws'
import { listLiveChannels } from './live-channels.ts'
import { createRecordingRoutes } from './recording-routes.ts'
import type { Upstream } from './upstream-client.ts'
import { getAccessCheck } from './view-access.ts'
import { closeWithoutAccess, relayWebSocket } from './websocket-relay.ts'
import { createWhepRoutes } from './whep-routes.ts'

/** The other services of the appliance, to which the routes forward requests. */
export interface LiveDependencies {
  engine: Upstream
  media: Upstream
}

/**
 * Routes of the console's live page: channels with their output, video and recordings. The output
 * is a stream of messages about what the engine has detected.
 */
export function createLiveRoutes({ engine, media }: LiveDependencies): Hono {
  const app = new Hono()

  app.get('/channels', async c => c.json(await listLiveChannels(engine, media)))

  app.get('/statistics', async c =>
    c.json(await engine.get('/api/v3/statistics', systemStatistics)),
  )

  app.get('/streams/:id/snapshot.jpg', async c => {
    const query = pickQuery(c, ['size'])
    const { body } = await media.fetch(`/streams/${parseStreamId(c)}/snapshot.jpg?${query}`)
    return new Response(body, {
      headers: { 'Content-Type': 'image/jpeg', 'Cache-Control': 'no-store' },
    })
  })

  app.get(
    '/streams/:id/ws',
    proxyWebSocket(
      media,
      c => `/streams/${parseStreamId(c)}/ws?${pickQuery(c, ['codecs', 'size'])}`,
    ),
  )

  app.route(
    '/streams',
    createWhepRoutes(async c => ({ media, stream: parseStreamId(c) })),
  )

  app.route('/recordings', createRecordingRoutes({ engine, media }))

  app.get(
    '/output',
    proxyWebSocket(engine, c => `/api/v3/output?${pickOutputQuery(c)}`),
  )

  app.all('*', c => {
    throw new EyrieError('id', `nothing found at ${c.req.path}`)
  })
  return app
}

/**
 * Relays a WebSocket of the upstream service to the client, for as long as the client has access.
 * `toPath` returns its path.
 */
function proxyWebSocket(upstream: Upstream, toPath: (c: Context) => string) {
  return serveWebSocket(
    c => ({ path: toPath(c), checkAccess: getAccessCheck(c) }),
    ({ path, checkAccess }) => ({
      onOpen(_event, { raw }) {
        const client = raw as WebSocket
        void relayWebSocket(upstream.connect(path), client)
        if (checkAccess) void closeWithoutAccess(client, checkAccess)
      },
    }),
  )
}

function parseStreamId(c: Context): number {
  const parsed = id.safeParse(Number(c.req.param('id')))
  if (!parsed.success) {
    throw new EyrieError('id', `"${c.req.param('id')}" is not the id of a stream`)
  }
  return parsed.data
}

/**
 * Returns the query parameters that select messages. Browsers must not send a token or a consumer
 * name.
 */
const pickOutputQuery = (c: Context) => pickQuery(c, ['channels', 'kinds', 'since'])

/** Returns the query parameters with these names. */
function pickQuery(c: Context, names: readonly string[]): URLSearchParams {
  const query = new URLSearchParams()
  for (const name of names) {
    for (const value of c.req.queries(name) ?? []) query.append(name, value)
  }
  return query
}
