import { EyrieError } from '@eyrie/contract'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import { type Context, Hono } from 'hono'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import { createUpstream, type Upstream } from './upstream-client.ts'
import { relay } from './websocket-relay.ts'
import { whepRoutes } from './whep-routes.ts'

/** Where a channel's pictures are. Rejects with EyrieError where nobody knows. */
export type FindView = (channel_id: string) => Promise<{ url: string; stream: number }>

const PASSED = ['Content-Type', 'Cache-Control', 'X-Epoch', 'X-Pts']

/**
 * Live views of all engines by tickets: `/{channel}/fmp4`, `/ws` and `/whep`. Whether a ticket is good says the media that
 * shows the stream.
 */
export function mediaRoutes(find: FindView): Hono {
  const app = new Hono()

  app.get('/:channel/fmp4', async c => {
    const { media, stream } = await viewOf(c)
    const { body, headers } = await media.fetch(`/streams/${stream}`, { method: c.req.method })
    const passed = PASSED.flatMap((name): [string, string][] => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    })
    return new Response(body, { headers: passed })
  })

  app.get(
    '/:channel/ws',
    serveWebSocket(
      c => () => viewOf(c),
      view => ({
        onOpen(_event, client) {
          const connecting = view().then(({ media, stream }) => media.connect(`/streams/${stream}/ws`))
          void relay(connecting, client.raw as WebSocket)
        },
      }),
    ),
  )

  const whep = async (c: Context) => {
    const { media, stream } = await viewOf(c)
    const routes = whepRoutes(media, () => stream)
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

  async function viewOf(c: Context): Promise<{ media: Upstream; stream: number }> {
    const channel = z.uuid().safeParse(c.req.param('channel'))
    if (!channel.success) throw new EyrieError('id', `"${c.req.param('channel')}" is not the id of a channel`)
    const ticket = c.req.query('ticket')
    if (!ticket) throw new EyrieError('auth', 'live views take a ticket: POST /api/v1/media/ticket gives one')
    const { url, stream } = await find(channel.data)
    return { media: carrying(ticket, url, c.req.query('codecs')), stream }
  }
  return app
}

/** Media, asked with the ticket of the caller. */
function carrying(ticket: string, url: string, codecs: string | undefined): Upstream {
  const media = createUpstream({ name: 'media', url, token: undefined, callersAnswer: true })
  const query = new URLSearchParams({ ticket, ...(codecs !== undefined && { codecs }) })
  const withTicket = (path: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`
  return {
    fetch: (path, request) => media.fetch(withTicket(path), request),
    get: (path, answer) => media.get(withTicket(path), answer),
    connect: path => media.connect(withTicket(path)),
  }
}
