import { EyrieError } from '@eyrie/contract'
import { limitBodySize } from '@eyrie/kit/body-limit'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { pickHeaders, type Upstream } from './upstream-client.ts'

const MAX_SDP_BYTES = 64 << 10
/** Headers of WHEP requests and answers. All others are dropped. */
const REQUEST_HEADERS = ['content-type', 'if-match']
const RESPONSE_HEADERS = [
  'accept-patch',
  'accept-post',
  'allow',
  'content-type',
  'etag',
  'link',
  'x-epoch',
  'x-pts',
]

/**
 * Forwards the SDP exchange of WHEP to media, whose token clients must not see. The video itself flows directly from media
 * to the browser.
 */
export function createWhepRoutes(media: Upstream, findStream: (c: Context) => number): Hono {
  const app = new Hono()
  const limit = limitBodySize(
    MAX_SDP_BYTES,
    () => new EyrieError('size', `the SDP is larger than ${MAX_SDP_BYTES} bytes`),
  )

  async function forward(c: Context, path: string): Promise<Response> {
    const { method } = c.req
    const headers = pickHeaders(REQUEST_HEADERS, c.req.raw.headers)
    const body = method === 'POST' || method === 'PATCH' ? await c.req.text() : undefined
    const answer = await media.fetch(path, { method, headers, body })
    const answerHeaders = pickHeaders(RESPONSE_HEADERS, answer.headers)
    const sessionId = answer.headers.get('location')?.split('/').at(-1)
    if (sessionId) answerHeaders.set('location', `${c.req.path}/${sessionId}`)
    return new Response(answer.body, { status: answer.status, headers: answerHeaders })
  }

  const transcodeQuery = (c: Context) => (c.req.query('transcode') === 'false' ? '?transcode=false' : '')
  const forwardToStream = (c: Context) => forward(c, `/streams/${findStream(c)}/whep${transcodeQuery(c)}`)
  const forwardToSession = (c: Context) => forward(c, `/streams/${findStream(c)}/whep/${parseSessionId(c)}`)
  app.options('/:id/whep', forwardToStream)
  app.post('/:id/whep', limit, forwardToStream)
  app.patch('/:id/whep/:session', limit, forwardToSession)
  app.delete('/:id/whep/:session', forwardToSession)
  handleMethodNotAllowed(app, '/{id}/whep', ['options', 'post'])
  handleMethodNotAllowed(app, '/{id}/whep/{session}', ['patch', 'delete'])
  return app
}

function parseSessionId(c: Context): string {
  const parsed = z.uuid().safeParse(c.req.param('session'))
  if (!parsed.success) throw new EyrieError('id', `"${c.req.param('session')}" is not the id of a session`)
  return parsed.data
}
