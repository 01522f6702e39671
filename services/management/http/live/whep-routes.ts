import { EyrieError } from '@eyrie/contract'
import { limitBodySize } from '@eyrie/kit/body-limit'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import type { Upstream } from './upstream-client.ts'

const MOST_SDP_BYTES = 64 << 10
/** What WHEP says in headers; nothing else of them goes through. */
const asked = ['content-type', 'if-match']
const answered = [
  ...['accept-patch', 'accept-post', 'allow', 'content-type', 'etag', 'link'],
  ...['x-epoch', 'x-pts'],
]

/**
 * Hands WHEP on to media, whose token stays on this side. Only the exchange of SDP comes this way: the picture itself
 * goes from media's addresses straight to the browser.
 */
export function whepRoutes(media: Upstream, streamOf: (c: Context) => number): Hono {
  const app = new Hono()
  const limit = limitBodySize(
    MOST_SDP_BYTES,
    () => new EyrieError('size', `the SDP has more than ${MOST_SDP_BYTES} bytes`),
  )

  async function handOn(c: Context, path: string): Promise<Response> {
    const { method } = c.req
    const body = method === 'POST' || method === 'PATCH' ? await c.req.text() : undefined
    const answer = await media.fetch(path, { method, headers: only(asked, c.req.raw.headers), body })
    const headers = only(answered, answer.headers)
    const session = answer.headers.get('location')?.split('/').at(-1)
    if (session) headers.set('location', `${c.req.path}/${session}`)
    return new Response(answer.body, { status: answer.status, headers })
  }

  const transcode = (c: Context) => (c.req.query('transcode') === 'false' ? '?transcode=false' : '')
  const toStream = (c: Context) => handOn(c, `/streams/${streamOf(c)}/whep${transcode(c)}`)
  const toSession = (c: Context) => handOn(c, `/streams/${streamOf(c)}/whep/${sessionOf(c)}`)
  app.options('/:id/whep', toStream)
  app.post('/:id/whep', limit, toStream)
  app.patch('/:id/whep/:session', limit, toSession)
  app.delete('/:id/whep/:session', toSession)
  handleMethodNotAllowed(app, '/{id}/whep', ['options', 'post'])
  handleMethodNotAllowed(app, '/{id}/whep/{session}', ['patch', 'delete'])
  return app
}

function sessionOf(c: Context): string {
  const parsed = z.uuid().safeParse(c.req.param('session'))
  if (!parsed.success) throw new EyrieError('id', `"${c.req.param('session')}" is not the id of a session`)
  return parsed.data
}

function only(names: readonly string[], headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => names.includes(name)))
}
