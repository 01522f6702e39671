import { configuration, EyrieError, id, type RecordedSource } from '@eyrie/contract'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { toSourceName } from './live-channels.ts'
import { pickHeaders, type Upstream } from './upstream-client.ts'
import { getVisibleChannels } from './visible-channels.ts'

/**
 * The other services of the appliance. The media service stores the recordings, and the engine
 * knows the names of the sources.
 */
export interface RecordingDependencies {
  engine: Upstream
  media: Upstream
}

/** Request headers that are forwarded to the media service. */
const REQUEST_HEADERS = ['range', 'if-range']
/** Response headers that are forwarded to the client. */
const RESPONSE_HEADERS = [
  'content-type',
  'content-length',
  'content-disposition',
  'content-range',
  'accept-ranges',
  'etag',
  'cache-control',
  'link',
  'x-recorded-from',
  'x-recorded-size',
]

/**
 * Forwards requests for recordings to the media service: `/`, `/{stream}`, and for each
 * stream `/clip.mp4`, `/metadata`, `/events` and `/segments`. `/sources` lists the names of
 * the existing sources.
 */
export function createRecordingRoutes({ engine, media }: RecordingDependencies): Hono {
  const app = new Hono()

  app.get('/sources', async c => {
    const { sources } = await engine.get('/api/v3/configuration', configuration)
    return c.json(
      sources.map(({ id, address }): RecordedSource => ({ id, name: toSourceName(address) })),
    )
  })

  const forward = (c: Context, path: string) => forwardToMedia(media, c, path)
  app.get('/', c => forward(c, `/recordings${toRecordingQuery(c)}`))
  app.get('/:id', c => forward(c, `${toRecordingPath(c)}${toRecordingQuery(c)}`))
  for (const resource of ['clip.mp4', 'segments']) {
    app.get(`/:id/${resource}`, c =>
      forward(c, `${toRecordingPath(c)}/${resource}${toRecordingQuery(c)}`),
    )
  }
  // These contain data of channels, of which the caller may see only some.
  for (const resource of ['metadata', 'events']) {
    app.get(`/:id/${resource}`, c => {
      const query = toRecordingQuery(c, getVisibleChannels(c))
      return forward(c, `${toRecordingPath(c)}/${resource}${query}`)
    })
  }
  app.get('/:id/segments/:name', c =>
    forward(c, `${toRecordingPath(c)}/segments/${encodeURIComponent(c.req.param('name'))}`),
  )

  return app
}

/** Forwards a request to a path of the media service, and its response to the client. */
async function forwardToMedia(media: Upstream, c: Context, path: string): Promise<Response> {
  const request = {
    method: 'GET',
    headers: pickHeaders(REQUEST_HEADERS, c.req.raw.headers),
    body: undefined,
  }
  const response = await media.fetch(path, request).catch(error => {
    const lengthBytes = findFullLength(error)
    // RFC 9110, section 15.5.17: a 416 response states the current length.
    if (lengthBytes !== undefined) c.header('Content-Range', `bytes */${lengthBytes}`)
    throw error
  })

  const { status } = response
  const headers = pickHeaders(RESPONSE_HEADERS, response.headers)
  if (c.req.method !== 'HEAD') return new Response(response.body, { status, headers })
  // A response to HEAD has no body, so the body of the media service is discarded.
  await response.body?.cancel()
  return new Response(null, { status, headers })
}

/** The error of the media service when a requested range lies outside the file. */
const rangeNotSatisfiable = z.object({
  status: z.literal(416),
  value: z.object({ bytes: z.int() }),
})

/**
 * Returns the length of the file if the error says that a requested range lies outside the file.
 */
const findFullLength = (error: unknown) => rangeNotSatisfiable.safeParse(error).data?.value.bytes

/**
 * Returns the query of a request to the media service: the stream and the time range of the
 * original request, and `channels` if they are given. Other parameters of the original request,
 * such as a token, are dropped.
 */
export function toRecordingQuery(c: Context, channels?: readonly number[]): string {
  const query = new URLSearchParams()
  for (const name of ['stream', 'from', 'to']) {
    const value = c.req.query(name)
    if (value !== undefined) query.append(name, value)
  }
  if (channels) query.append('channels', channels.join(','))
  return query.size > 0 ? `?${query}` : ''
}

/**
 * Returns the path of a stream's recordings in the media service. Throws `EyrieError` (`id`) for
 * an invalid stream id.
 */
export function toRecordingPath(c: Context): string {
  const parsed = id.safeParse(Number(c.req.param('id')))
  if (!parsed.success) {
    throw new EyrieError('id', `"${c.req.param('id')}" is not the id of a stream`)
  }
  return `/recordings/${parsed.data}`
}
