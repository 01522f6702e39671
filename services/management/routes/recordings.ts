import { EyrieError, id } from '@eyrie/contract'
import { type Context, Hono } from 'hono'
import type { Upstream } from '../upstream.ts'

/** What a browser may know of media's answer. */
const PASSED = [
  'Content-Type',
  'Content-Length',
  'Content-Disposition',
  'Cache-Control',
  'Link',
  'X-Recorded-From',
]

/** Recordings as media serves them: `/`, `/{stream}`, `/{stream}/clip.mp4` and `/{stream}/metadata`. */
export function recordingRoutes(media: Upstream): Hono {
  const app = new Hono()
  app.get('/', c => passOn(media, `/recordings${timesOf(c)}`))
  app.get('/:id', c => passOn(media, `/recordings/${streamOf(c)}${timesOf(c)}`))
  app.get('/:id/clip.mp4', c => passOn(media, `/recordings/${streamOf(c)}/clip.mp4${timesOf(c)}`))
  app.get('/:id/metadata', c => passOn(media, `/recordings/${streamOf(c)}/metadata${timesOf(c)}`))
  return app
}

async function passOn(media: Upstream, path: string): Promise<Response> {
  const { body, headers } = await media.fetch(path)
  const passed = PASSED.flatMap(name => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value] as [string, string]]
  })
  return new Response(body, { headers: passed })
}

/** Only what selects a time: a browser may not bring a token. */
function timesOf(c: Context): string {
  const query = new URLSearchParams()
  for (const name of ['stream', 'from', 'to']) {
    const value = c.req.query(name)
    if (value !== undefined) query.set(name, value)
  }
  return query.size > 0 ? `?${query}` : ''
}

function streamOf(c: Context): number {
  const parsed = id.safeParse(Number(c.req.param('id')))
  if (!parsed.success) throw new EyrieError('id', `"${c.req.param('id')}" is not the id of a stream`)
  return parsed.data
}
