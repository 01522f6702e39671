import { configuration, EyrieError, id, type RecordedSource } from '@eyrie/contract'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { toSourceName } from './live-channels.ts'
import { pickHeaders, type Upstream } from './upstream-client.ts'

export interface RecordingDependencies {
  engine: Upstream
  media: Upstream
}

/** Request headers forwarded to media. */
const REQUEST_HEADERS = ['range', 'if-range']
/** Headers of media's answer forwarded to the client. */
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
 * Forwards recordings from media: `/`, `/{stream}`, and of each stream `/clip.mp4`, `/metadata`, `/events` and `/segments`.
 * `/sources` lists the names of the sources; recordings of deleted sources have no name.
 */
export function createRecordingRoutes({ engine, media }: RecordingDependencies): Hono {
  const app = new Hono()

  app.get('/sources', async c => {
    const { sources } = await engine.get('/api/v3/configuration', configuration)
    return c.json(
      sources.map((source): RecordedSource => ({ id: source.id, name: toSourceName(source.address) })),
    )
  })

  app.get('/', c => forward(c, `/recordings${toTimeQuery(c)}`))
  app.get('/:id', c => forward(c, `${toRecordingPath(c)}${toTimeQuery(c)}`))
  for (const part of ['clip.mp4', 'metadata', 'events', 'segments'])
    app.get(`/:id/${part}`, c => forward(c, `${toRecordingPath(c)}/${part}${toTimeQuery(c)}`))
  app.get('/:id/segments/:name', c =>
    forward(c, `${toRecordingPath(c)}/segments/${encodeURIComponent(c.req.param('name'))}`),
  )

  async function forward(c: Context, path: string): Promise<Response> {
    const request = {
      method: 'GET',
      headers: pickHeaders(REQUEST_HEADERS, c.req.raw.headers),
      body: undefined,
    }
    const answer = await media.fetch(path, request).catch(error => {
      const bytes = findFullLength(error)
      if (bytes !== undefined) c.header('Content-Range', `bytes */${bytes}`)
      throw error
    })
    const { status } = answer
    const headers = pickHeaders(RESPONSE_HEADERS, answer.headers)
    if (c.req.method !== 'HEAD') return new Response(answer.body, { status, headers })
    await answer.body?.cancel()
    return new Response(null, { status, headers })
  }

  return app
}

const unsatisfiable = z.object({ status: z.literal(416), value: z.object({ bytes: z.int() }) })

/** Returns the full length of the file if a requested range lies outside of it. */
const findFullLength = (error: unknown) => unsatisfiable.safeParse(error).data?.value.bytes

/** Picks the parameters that select a time range. Others, such as a token, are dropped. */
export function toTimeQuery(c: Context): string {
  const query = new URLSearchParams()
  for (const name of ['stream', 'from', 'to']) {
    const value = c.req.query(name)
    if (value !== undefined) query.append(name, value)
  }
  return query.size > 0 ? `?${query}` : ''
}

/** Returns the path in media of the recordings of a stream. Throws `EyrieError` (`id`) for an invalid stream id. */
export function toRecordingPath(c: Context): string {
  const parsed = id.safeParse(Number(c.req.param('id')))
  if (!parsed.success) throw new EyrieError('id', `"${c.req.param('id')}" is not the id of a stream`)
  return `/recordings/${parsed.data}`
}
