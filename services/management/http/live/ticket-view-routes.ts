import { EyrieError } from '@eyrie/contract'
import type { Egress } from '@eyrie/kit'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import type { WSEvents } from 'hono/ws'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import type { Database } from '../../db/database.ts'
import type { LiveView } from '../../fleet/live-views.ts'
import type { Users } from '../../users/users.ts'
import { createUpstream, pickHeaders, type Upstream } from './upstream-client.ts'
import {
  breakOffWithoutAccess,
  type CheckAccess,
  getAccessCheck,
  setAccessCheck,
} from './view-access.ts'
import { assertMayView, readViewTicket, type ViewTicket } from './view-tickets.ts'
import { closeWithoutAccess, relayWebSocket } from './websocket-relay.ts'
import { createWhepRoutes, type MediaView } from './whep-routes.ts'

/**
 * Resolves to the stream of a channel, with a ticket for its media service. Rejects with
 * `EyrieError` on failure.
 */
export type FindView = (channelId: string) => Promise<Pick<LiveView, 'url' | 'stream' | 'ticket'>>

export interface TicketViewOptions {
  findView: FindView
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  users(): Pick<Users, 'secrets' | 'now'>
  /** Opens the connections to media services. */
  egress: Egress
}

/** Response headers that are forwarded to the client. */
const RESPONSE_HEADERS = ['content-type', 'cache-control', 'x-epoch', 'x-pts']

/**
 * Live views of the channels of all engines: `/{id}/fmp4`, `/{id}/ws` and `/{id}/whep`, with the id
 * of a channel. A ticket authorizes a view. The view continues when the ticket has expired, and
 * ends when the user of the ticket may no longer see the channel.
 */
export function createTicketViewRoutes(options: TicketViewOptions): Hono {
  const { findView, database, users, egress } = options
  const app = new Hono()

  /**
   * Returns the ticket of a request. Throws `EyrieError` (`id`, `auth`) unless it is valid for the
   * requested channel. An established WHEP session continues after its ticket has expired.
   */
  function parseTicket(c: Context): ViewTicket {
    const parsedChannel = z.uuid().safeParse(c.req.param('id'))
    if (!parsedChannel.success) {
      throw new EyrieError('id', `"${c.req.param('id')}" is not the id of a channel`)
    }

    const text = c.req.query('ticket')
    if (!text) {
      throw new EyrieError(
        'auth',
        'live views require a ticket: request one with POST /api/v1/media/ticket',
      )
    }

    const { secrets, now } = users()
    const ticket = readViewTicket(secrets, text)
    const isSessionRequest = c.req.param('session') !== undefined
    const isValid =
      ticket?.channel_id === parsedChannel.data.toLowerCase() &&
      (isSessionRequest || now().getTime() < ticket.expires)
    if (!isValid) {
      throw new EyrieError(
        'auth',
        'this ticket has expired or belongs to another channel: open the addresses that POST /api/v1/media/ticket returns',
      )
    }
    return ticket
  }

  /**
   * Returns the stream of the requested channel, and a client of its media service that sends a
   * ticket of its own. Throws `EyrieError` if the ticket of the client does not permit it.
   */
  async function openView(c: Context): Promise<MediaView> {
    const viewTicket = parseTicket(c)
    const checkAccess: CheckAccess = () => assertMayView(database(), viewTicket, users().now())
    await checkAccess()
    setAccessCheck(c, checkAccess)

    const { url, stream, ticket } = await findView(viewTicket.channel_id)
    const media = createUpstream({ name: 'media', url, token: undefined, egress })
    return { media: addQuery(media, toViewQuery(c, ticket)), stream }
  }

  async function connectToView(c: Context, client: WebSocket): Promise<WebSocket> {
    const { media, stream } = await openView(c)
    void closeWithoutAccess(client, getAccessCheck(c)!)
    return media.connect(`/streams/${stream}/ws`)
  }

  // The view is opened after the handshake, because browsers show errors only in a close frame.
  const relayView = (c: Context): WSEvents => ({
    onOpen(_event, { raw }) {
      const client = raw as WebSocket
      void relayWebSocket(connectToView(c, client), client)
    },
  })

  app.get('/:id/fmp4', async c => {
    const { media, stream } = await openView(c)
    const { body, headers } = await media.fetch(`/streams/${stream}`, { method: c.req.method })
    void breakOffWithoutAccess(c, getAccessCheck(c)!)
    return new Response(body, { headers: pickHeaders(RESPONSE_HEADERS, headers) })
  })
  app.get(
    '/:id/ws',
    // `openView` parses the request, after the handshake.
    serveWebSocket(c => c, relayView),
  )
  app.use('/:id/whep', addTicketToLocation)
  app.route('/', createWhepRoutes(openView))
  return app
}

/**
 * Adds the ticket to the address of a new WHEP session, because the client's requests to it need
 * the ticket as well.
 */
const addTicketToLocation: MiddlewareHandler = async (c, next) => {
  await next()
  const location = c.res.headers.get('Location')
  const { ticket } = c.req.query()
  if (location && ticket) c.header('Location', `${location}?${new URLSearchParams({ ticket })}`)
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
