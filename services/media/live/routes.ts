import { EyrieError } from '@eyrie/contract'
import { type HttpBindings, upgradeWebSocket } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import type { Sources } from '../control/sources.ts'
import type { Source } from '../ingest/source.ts'
import type { Snapshots } from './snapshot.ts'
import { chunkedBody, socketViewer } from './viewers.ts'

/** Live views as fragmented MP4, and single pictures. A stream has its source's id. */
export function liveRoutes(
  app: Hono<{ Bindings: HttpBindings }>,
  sources: Sources,
  snapshots: Snapshots,
): void {
  const playable = (c: Context) => passedThrough(sourceAt(c.req.param('id'), sources))

  app.get('/streams', c => c.json(sources.all().map(describe)))

  app.get('/streams/:id', c => {
    const { stream } = playable(c)
    const info = stream.info()
    if (!info) throw new EyrieError('unavailable', 'the stream has not begun yet')
    return c.body(chunkedBody(stream), 200, {
      'Content-Type': `video/mp4; codecs="${info.codecs}"`,
      'Cache-Control': 'no-store',
      'X-Epoch': String(info.epoch),
      'X-Pts': String(stream.newestPts()),
    })
  })

  app.get('/streams/:id/ws', c => {
    const { stream } = playable(c)
    let leave = () => {}
    return upgradeWebSocket(c, {
      onOpen: (_, socket) => {
        leave = stream.watch(socketViewer(socket))
      },
      onClose: () => leave(),
    })
  })

  app.get('/streams/:id/snapshot.jpg', async c => {
    const query = z.object({ pts: z.coerce.number().int().min(0).optional() }).safeParse(c.req.query())
    if (!query.success) throw new EyrieError('syntax', 'pts must be a whole number of 90 kHz ticks')
    const { jpeg, pts } = await snapshots.take(playable(c).stream, query.data.pts)
    return c.body(jpeg, 200, {
      'Content-Type': 'image/jpeg',
      'Cache-Control': 'no-store',
      'X-Pts': String(pts),
    })
  })
}

function sourceAt(id: string | undefined, sources: Sources): Source {
  const source = /^\d+$/.test(id ?? '') ? sources.get(Number(id)) : undefined
  if (!source) throw new EyrieError('id', `there is no stream ${id}: GET /streams lists them`)
  return source
}

function passedThrough(source: Source): Source {
  const { codec, state, reason } = source.status()
  if (codec && codec !== 'h264') {
    throw new EyrieError(
      'unavailable',
      `the source is ${codec}: live views need H.264, so set the camera to it`,
    )
  }
  if (state === 'failed') throw new EyrieError('unavailable', reason ?? 'the source has failed')
  return source
}

function describe(source: Source) {
  const { id, state } = source.status()
  return { id, state, ...source.stream.info(), viewers: source.stream.viewers() }
}
