import { configuration, EyrieError, id, type RecordedSource } from '@eyrie/contract'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { sourceName } from './live-channels.ts'
import type { Upstream } from './upstream-client.ts'

export interface RecordingDependencies {
  engine: Upstream
  media: Upstream
}

/** What a browser may know of media's answer. */
const PASSED = [
  'Content-Type',
  'Content-Length',
  'Content-Disposition',
  'Content-Range',
  'Accept-Ranges',
  'ETag',
  'Cache-Control',
  'Link',
  'X-Recorded-From',
  'X-Recorded-Size',
]
/** What media may know of a browser's request: which part it wants, and of what. */
const ASKED = ['Range', 'If-Range']

/**
 * Recordings as media serves them: `/`, `/{stream}`, and of each `/clip.mp4`, `/metadata`, `/events` and `/segments`.
 * `/sources` says what the sources are called; what was recorded of one that is gone has no name.
 */
export function recordingRoutes({ engine, media }: RecordingDependencies): Hono {
  const app = new Hono()

  app.get('/sources', async c => {
    const { sources } = await engine.get('/api/v3/configuration', configuration)
    return c.json(
      sources.map((source): RecordedSource => ({ id: source.id, name: sourceName(source.address) })),
    )
  })

  app.get('/', c => passOn(c, `/recordings${timesOf(c)}`))
  app.get('/:id', c => passOn(c, `${recordingOf(c)}${timesOf(c)}`))
  for (const part of ['clip.mp4', 'metadata', 'events', 'segments'])
    app.get(`/:id/${part}`, c => passOn(c, `${recordingOf(c)}/${part}${timesOf(c)}`))
  app.get('/:id/segments/:name', c =>
    passOn(c, `${recordingOf(c)}/segments/${encodeURIComponent(c.req.param('name'))}`),
  )

  async function passOn(c: Context, path: string): Promise<Response> {
    const asked = new Headers(ASKED.flatMap(name => pair(name, c.req.header(name))))
    const request = { method: 'GET', headers: asked, body: undefined }
    const { body, status, headers } = await media.fetch(path, request).catch(error => {
      const bytes = lengthIn(error)
      if (bytes !== undefined) c.header('Content-Range', `bytes */${bytes}`)
      throw error
    })
    const isHead = c.req.method === 'HEAD'
    if (isHead) await body?.cancel()
    const told = PASSED.flatMap(name => pair(name, headers.get(name)))
    return new Response(isHead ? null : body, { status, headers: told })
  }

  return app
}

const pair = (name: string, value: string | null | undefined): [string, string][] =>
  value === null || value === undefined ? [] : [[name, value]]

const unsatisfiable = z.object({ status: z.literal(416), value: z.object({ bytes: z.int() }) })

/** Who asked for a part that is not there is told how long the whole is. */
const lengthIn = (error: unknown) => unsatisfiable.safeParse(error).data?.value.bytes

/** Only what selects a time: a browser may not bring a token. */
export function timesOf(c: Context): string {
  const query = new URLSearchParams(['stream', 'from', 'to'].flatMap(name => pair(name, c.req.query(name))))
  return query.size > 0 ? `?${query}` : ''
}

export function recordingOf(c: Context): string {
  const parsed = id.safeParse(Number(c.req.param('id')))
  if (!parsed.success) throw new EyrieError('id', `"${c.req.param('id')}" is not the id of a stream`)
  return `/recordings/${parsed.data}`
}
