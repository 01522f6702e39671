import { configuration, EyrieError, id, type RecordedSource } from '@eyrie/contract'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { toSourceName } from './live-channels.ts'
import { pickHeaders, type Upstream } from './upstream-client.ts'
import { breakOffWithoutAccess, getAccessCheck } from './view-access.ts'
import { getVisibleChannels } from './visible-channels.ts'

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
 * The other services of the appliance. The media service stores the recordings, and the engine
 * knows the names of the sources.
 */
export interface RecordingDependencies {
  engine: Upstream
  media: Upstream
}

/**
 * Forwards requests for recordings to the media service: `/`, `/{id}`, and for the id of each
 * stream `/clip.mp4`, `/metadata`, `/events`, `/segments` and `/segments/{name}`. `/sources`
 * lists the names of the existing sources.
 */
export function createRecordingRoutes({ engine, media }: RecordingDependencies): Hono {
  const app = new Hono()

  app.get('/sources', async c => {
    const { sources } = await engine.get('/api/v3/configuration', configuration)
    return c.json(
      sources.map(({ id, address }): RecordedSource => ({ id, name: toSourceName(address) })),
    )
  })

  app.get('/', c => forwardToMedia(media, c, `/recordings${toRecordingQuery(c)}`))

  /** Forwards a request for the recordings of a stream, or for a part of them such as `/events`. */
  const forwardStream = (c: Context, part = '', channels?: readonly number[]) =>
    forwardWhileAllowed(media, c, toRecordingPath(c) + part + toRecordingQuery(c, channels))
  app.get('/:id', c => forwardStream(c))
  app.get('/:id/clip.mp4', c => forwardStream(c, '/clip.mp4'))
  app.get('/:id/segments', c => forwardStream(c, '/segments'))
  // Metadata and events are data of channels, of which the caller may see only some.
  app.get('/:id/metadata', c => forwardStream(c, '/metadata', getVisibleChannels(c)))
  app.get('/:id/events', c => forwardStream(c, '/events', getVisibleChannels(c)))

  app.get('/:id/segments/:name', c => {
    const name = encodeURIComponent(c.req.param('name'))
    return forwardWhileAllowed(media, c, `${toRecordingPath(c)}/segments/${name}`)
  })
  return app
}

/**
 * Forwards a request for a recording, whose response may last for hours. It breaks off when the
 * access of the client ends.
 */
function forwardWhileAllowed(media: Upstream, c: Context, path: string): Promise<Response> {
  const checkAccess = getAccessCheck(c)
  if (checkAccess) void breakOffWithoutAccess(c, checkAccess)
  return forwardToMedia(media, c, path)
}

/** Forwards a request to a path of the media service, and its response to the client. */
async function forwardToMedia(media: Upstream, c: Context, path: string): Promise<Response> {
  const request = { method: 'GET', headers: pickHeaders(REQUEST_HEADERS, c.req.raw.headers) }
  const response = await media.fetch(path, request).catch(error => {
    const fileBytes = parseFileLength(error)
    // RFC 9110, section 15.5.17: a 416 response states the current length.
    if (fileBytes !== undefined) c.header('Content-Range', `bytes */${fileBytes}`)
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
 * Returns the length of the file if the error says that a requested range lies outside the file,
 * otherwise undefined.
 */
const parseFileLength = (error: unknown) => rangeNotSatisfiable.safeParse(error).data?.value.bytes

/**
 * Returns the query of a request to the media service, with its question mark. It has the stream
 * and the time range of the original request, and `channels` if they are given. Other parameters of
 * the original request, such as a token, are dropped.
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
