import { EyrieError } from '@eyrie/contract'
import { type HttpBindings, upgradeWebSocket } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import type { Sources } from '../control/sources.ts'
import type { Source } from '../ingest/source.ts'
import type { Hosted } from './annotated/hosted.ts'
import type { HostedStreams } from './annotated/hosted-streams.ts'
import type { Snapshots } from './snapshot.ts'
import type { Stream } from './stream.ts'
import { chunkedBody, socketViewer } from './viewers.ts'

export interface LiveStreams {
  sources: Sources
  hosted: HostedStreams
}

/** Time that an annotated stream, which nobody has watched so far, has to begin. */
const BEGINNING_MS = 10_000

/** Live views as fragmented MP4, and single pictures. A stream has its source's id; an annotated one has a name. */
export function liveRoutes(
  app: Hono<{ Bindings: HttpBindings }>,
  streams: LiveStreams,
  snapshots: Snapshots,
): void {
  const playable = (c: Context) => playableAt(c.req.param('id') ?? '', streams)
  const begun = (c: Context) => begunStream(c.req.param('id') ?? '', streams)

  app.get('/streams', c =>
    c.json([...streams.sources.all().map(describe), ...streams.hosted.all().map(describeHosted)]),
  )

  app.get('/streams/:id', async c => {
    const stream = await begun(c)
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
    const { jpeg, pts } = await snapshots.take(await begun(c), query.data.pts)
    return c.body(jpeg, 200, {
      'Content-Type': 'image/jpeg',
      'Cache-Control': 'no-store',
      'X-Pts': String(pts),
    })
  })
}

/** The stream with this id. Throws EyrieError that says why it cannot be watched; waits for an annotated one to begin. */
export async function begunStream(id: string, streams: LiveStreams): Promise<Stream> {
  const found = playableAt(id, streams)
  if ('begun' in found) await beginning(found)
  return found.stream
}

function playableAt(id: string, { sources, hosted }: LiveStreams): Source | Hosted {
  const found = /^\d+$/.test(id) ? sources.get(Number(id)) : hosted.get(id)
  if (!found) throw new EyrieError('id', `there is no stream ${id}: GET /streams lists them`)
  return 'begun' in found ? found : passedThrough(found)
}

async function beginning(hosted: Hosted): Promise<void> {
  try {
    await hosted.begun(AbortSignal.timeout(BEGINNING_MS))
  } catch (cause) {
    const { state, reason } = hosted.source.status()
    const why = reason ?? `its source is ${state}`
    throw new EyrieError('unavailable', `${hosted.name} shows no analysed frame: ${why}`, { cause })
  }
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

function describeHosted({ name, source, stream }: Hosted) {
  const { id, state } = source.status()
  return { id: name, source: id, state, ...stream.info(), viewers: stream.viewers() }
}
