import { EyrieError } from '@eyrie/contract'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import { type Context, Hono } from 'hono'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import { createUpstream, pickHeaders, type Upstream } from './upstream-client.ts'
import { relayWebSocket } from './websocket-relay.ts'
import { createWhepRoutes } from './whep-routes.ts'

/** Resolves to the media server and stream that show a channel. Throws `EyrieError` if the channel is not shown anywhere. */
export type FindView = (channel_id: string) => Promise<{ url: string; stream: number }>

const RESPONSE_HEADERS = ['content-type', 'cache-control', 'x-epoch', 'x-pts']

/**
 * Live views of the channels of all engines, authorized by tickets: `/{channel}/fmp4`, `/ws` and `/whep`. The media server
 * that shows the stream validates the ticket.
 */
export function createTicketViewRoutes(findView: FindView): Hono {
  const app = new Hono()

  app.get('/:channel/fmp4', async c => {
    const { media, stream } = await openView(c)
    const { body, headers } = await media.fetch(`/streams/${stream}`, { method: c.req.method })
    return new Response(body, { headers: pickHeaders(RESPONSE_HEADERS, headers) })
  })

  app.get(
    '/:channel/ws',
    serveWebSocket(
      c => () => openView(c),
      view => ({
        onOpen(_event, client) {
          const connecting = view().then(({ media, stream }) => media.connect(`/streams/${stream}/ws`))
          void relayWebSocket(connecting, client.raw as WebSocket)
        },
      }),
    ),
  )

  const whep = async (c: Context) => {
    const { media, stream } = await openView(c)
    const routes = createWhepRoutes(media, () => stream)
    routes.onError(error => {
      throw error
    })
    return new Hono()
      .onError(error => {
        throw error
      })
      .route('/media', routes)
      .fetch(c.req.raw, c.env)
  }
  app.all('/:channel/whep', whep)
  app.all('/:channel/whep/:session', whep)

  async function openView(c: Context): Promise<{ media: Upstream; stream: number }> {
    const channel = z.uuid().safeParse(c.req.param('channel'))
    if (!channel.success) throw new EyrieError('id', `"${c.req.param('channel')}" is not the id of a channel`)
    const ticket = c.req.query('ticket')
    if (!ticket)
      throw new EyrieError('auth', 'live views require a ticket: request one with POST /api/v1/media/ticket')
    const { url, stream } = await findView(channel.data)
    return { media: createTicketClient(ticket, url, c.req.query('codecs')), stream }
  }
  return app
}

/** Returns a client of media that adds the caller's ticket to every request. */
function createTicketClient(ticket: string, url: string, codecs: string | undefined): Upstream {
  const media = createUpstream({ name: 'media', url, token: undefined, passesAuthErrors: true })
  const query = new URLSearchParams({ ticket, ...(codecs !== undefined && { codecs }) })
  const withTicket = (path: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`
  return {
    fetch: (path, request) => media.fetch(withTicket(path), request),
    get: (path, answer) => media.get(withTicket(path), answer),
    connect: path => media.connect(withTicket(path)),
  }
}
