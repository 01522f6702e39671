import { EyrieError } from '@eyrie/contract'
import type { Egress } from '@eyrie/kit'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import { type Context, Hono } from 'hono'
import type { WSEvents } from 'hono/ws'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import { createUpstream, pickHeaders, type Upstream } from './upstream-client.ts'
import { relayWebSocket } from './websocket-relay.ts'
import { createWhepRoutes } from './whep-routes.ts'

/**
 * Resolves to the stream of a channel and the URL of its media service. Rejects with
 * `EyrieError` on failure.
 */
export type FindView = (channelId: string) => Promise<{ url: string; stream: number }>

/** Response headers that are forwarded to the client. */
const RESPONSE_HEADERS = ['content-type', 'cache-control', 'x-epoch', 'x-pts']

/**
 * Live views of the channels of all engines: `/{channel}/fmp4`, `/{channel}/ws` and
 * `/{channel}/whep`. A ticket, which is a short-lived token for one stream, authorizes a view. The
 * media service of the stream validates it.
 */
export function createTicketViewRoutes(findView: FindView, egress: Egress): Hono {
  const app = new Hono()

  /**
   * Returns the stream of the requested channel, and a client of its media service that sends the
   * ticket of the caller.
   */
  async function openView(c: Context): Promise<{ media: Upstream; stream: number }> {
    const parsedChannel = z.uuid().safeParse(c.req.param('channel'))
    if (!parsedChannel.success) {
      throw new EyrieError('id', `"${c.req.param('channel')}" is not the id of a channel`)
    }

    const ticket = c.req.query('ticket')
    if (!ticket) {
      throw new EyrieError(
        'auth',
        'live views require a ticket: request one with POST /api/v1/media/ticket',
      )
    }

    const { url, stream } = await findView(parsedChannel.data)
    const media = createUpstream({
      name: 'media',
      url,
      token: undefined,
      egress,
      passesAuthErrors: true,
    })
    return { media: addQuery(media, toViewQuery(c, ticket)), stream }
  }

  async function connectToView(c: Context): Promise<WebSocket> {
    const { media, stream } = await openView(c)
    return media.connect(`/streams/${stream}/ws`)
  }

  // The view is opened after the handshake, because browsers show errors only in a close frame.
  const relayView = (c: Context): WSEvents => ({
    onOpen(_event, client) {
      void relayWebSocket(connectToView(c), client.raw as WebSocket)
    },
  })

  /** Forwards a WHEP request to routes that are created for the media service of its channel. */
  const forwardWhep = async (c: Context) => {
    const { media, stream } = await openView(c)
    // Errors pass through to the error handler of the app.
    const routes = createWhepRoutes(media, () => stream).onError(rethrow)
    return new Hono().onError(rethrow).route('/media', routes).fetch(c.req.raw, c.env)
  }

  app.get('/:channel/fmp4', async c => {
    const { media, stream } = await openView(c)
    const { body, headers } = await media.fetch(`/streams/${stream}`, { method: c.req.method })
    return new Response(body, { headers: pickHeaders(RESPONSE_HEADERS, headers) })
  })
  app.get(
    '/:channel/ws',
    // `openView` parses the request, after the handshake.
    serveWebSocket(c => c, relayView),
  )
  app.all('/:channel/whep', forwardWhep)
  app.all('/:channel/whep/:session', forwardWhep)
  return app
}

function rethrow(error: Error): never {
  throw error
}

/** Returns the query of a request to the media service: the ticket, and the requested format. */
function toViewQuery(c: Context, ticket: string): URLSearchParams {
  const query = new URLSearchParams({ ticket })
  for (const name of ['codecs', 'size']) {
    const value = c.req.query(name)
    if (value !== undefined) query.set(name, value)
  }
  return query
}

/** Returns a client that adds query parameters to the path of every request. */
function addQuery(upstream: Upstream, query: URLSearchParams): Upstream {
  const extend = (path: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`
  return {
    fetch: (path, request) => upstream.fetch(extend(path), request),
    get: (path, schema) => upstream.get(extend(path), schema),
    connect: path => upstream.connect(extend(path)),
  }
}
