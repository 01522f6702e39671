import {
  EyrieError,
  integerParameter,
  type PlayableCodec,
  playableCodec,
  playableCodecs,
  snapshotRequest,
} from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import type { Sound } from '../sound/sound.ts'
import type { Source } from '../sources/source.ts'
import type { SourceRegistry } from '../sources/source-registry.ts'
import type { Stream, Track } from '../stream/live-stream.ts'
import type { PlayableTrack } from '../stream/sample-entry.ts'
import { withSound } from '../stream/stream-with-sound.ts'
import type { Hosted } from './annotated/hosted-stream.ts'
import type { HostedStreams } from './annotated/hosted-streams.ts'
import type { Snapshot, Snapshots } from './snapshots/stream-snapshots.ts'
import { chunkedBody, socketViewer } from './stream-viewers.ts'

export interface LiveStreams {
  sources: SourceRegistry
  hosted: HostedStreams
}

/** Time that a stream which is made only while it is watched has to begin. */
const BEGINNING_MS = 10_000

/** Live views as fragmented MP4, and single pictures. A stream has its source's id; an annotated one has a name. */
export function liveRoutes(
  app: Hono<{ Bindings: HttpBindings }>,
  streams: LiveStreams,
  snapshots: Snapshots,
): void {
  const playable = (c: Context) => playableAt(c.req.param('id') ?? '', streams)

  app.get('/streams', c =>
    c.json([...streams.sources.all().map(describe), ...streams.hosted.all().map(describeHosted)]),
  )

  app.get('/streams/:id', async c => {
    const [found, codecs] = [playable(c), codecsOf(c)]
    const pictures = await begun(found, streamFor(found, codecs))
    const info = pictures.info()
    if (!info) throw new EyrieError('unavailable', 'the stream has not begun yet')
    const stream = await sounding(found, pictures, codecs)
    const headers = {
      'Content-Type': `video/mp4; codecs="${stream.info()?.codecs}"`,
      'Cache-Control': 'no-store',
      'X-Epoch': String(info.epoch),
      'X-Pts': String(stream.newestPts()),
    }
    // Who asks for the headers alone never reads, and would be a viewer for ever.
    return c.req.method === 'HEAD' ? c.body(null, 200, headers) : c.body(chunkedBody(stream), 200, headers)
  })

  app.get(
    '/streams/:id/ws',
    serveWebSocket(
      c => ({ found: playable(c), codecs: codecsOf(c) }),
      ({ found, codecs }) => {
        let leave: (() => void) | undefined
        let gone = false
        return {
          onOpen: async (_, socket) => {
            const stream = await sounding(found, streamFor(found, codecs), codecs)
            leave = stream.watch(socketViewer(socket))
            if (gone) leave()
          },
          onClose: () => {
            gone = true
            leave?.()
          },
        }
      },
    ),
  )

  app.get('/streams/:id/snapshot.jpg', async c => {
    // What opens the door says nothing of the picture.
    const { ticket: _, access_token: __, ...query } = c.req.query()
    const asked = snapshotQuery.safeParse(query)
    if (!asked.success) throw new EyrieError('syntax', refusalOf(asked.error))
    return sendPicture(c, await snapshots.take(await picturesOf(playable(c)), asked.data))
  })

  app.post('/streams/:id/snapshot.jpg', async c => {
    const body: unknown = await c.req.json().catch(() => undefined)
    return sendPicture(c, await snapshots.take(await picturesOf(playable(c)), parseAs(snapshotRequest, body)))
  })
}

/** Media knows no objects: a picture with boxes, or without faces, is asked of the engine. */
const snapshotQuery = z.strictObject({
  pts: integerParameter(0, Number.MAX_SAFE_INTEGER).optional(),
  width: integerParameter(16, 8192).optional(),
})

function refusalOf({ issues: [issue] }: z.ZodError): string {
  if (issue?.code === 'unrecognized_keys')
    return `${issue.keys.join(' and ')}: ask the engine for a channel's snapshot, since media knows no objects`
  return issue?.path[0] === 'pts'
    ? 'pts must be a whole number of 90 kHz ticks'
    : 'width must be a whole number from 16 to 8192'
}

const sendPicture = (c: Context, { jpeg, pts }: Snapshot) =>
  c.body(jpeg, 200, { 'Content-Type': 'image/jpeg', 'Cache-Control': 'no-store', 'X-Pts': String(pts) })

function playableAt(id: string, { sources, hosted }: LiveStreams): Source | Hosted {
  const found = /^\d+$/.test(id) ? sources.get(Number(id)) : hosted.get(id)
  if (!found) throw new EyrieError('id', `there is no stream ${id}: GET /streams lists them`)
  if ('variants' in found) requireWorking(found)
  return found
}

/** For WebRTC, which carries no B-frames and not every form of H.264: `transcoded` is one that it always carries. */
export function h264Stream(id: string, streams: LiveStreams, { transcoded = false } = {}): Promise<Stream> {
  const found = playableAt(id, streams)
  return begun(found, transcoded && 'variants' in found ? found.variants.transcoded : found.stream)
}

/** That of the stream's source; undefined where it can have none. */
export const soundOf = (id: string, streams: LiveStreams): Sound | undefined =>
  soundBehind(playableAt(id, streams))

const soundBehind = (found: Source | Hosted) => ('variants' in found ? found : found.source).sound

/** In the form that the viewer plays, and that costs least. */
function streamFor(found: Source | Hosted, codecs: readonly PlayableCodec[]): Stream<PlayableTrack> {
  return 'variants' in found && codecs.includes('h265') ? found.variants.h265 : found.stream
}

/** With the source's sound, where the viewer wants it and there is any. */
async function sounding(
  found: Source | Hosted,
  stream: Stream<PlayableTrack>,
  codecs: readonly PlayableCodec[],
): Promise<Stream<PlayableTrack>> {
  const sound = soundBehind(found)
  return sound && codecs.includes('aac') ? withSound(stream, sound) : stream
}

/** What single pictures are decoded from: packets as they come, or what is made of raw pictures. */
async function picturesOf(found: Source | Hosted): Promise<Stream<Track>> {
  if ('variants' in found && found.variants.original.track()) return found.variants.original
  return begun(found, found.stream)
}

/** Waits for a stream that is made only while somebody watches. Throws EyrieError that says why it does not begin. */
async function begun<Carried extends Track>(
  found: Source | Hosted,
  stream: Stream<Carried>,
): Promise<Stream<Carried>> {
  try {
    await stream.begun?.(AbortSignal.timeout(BEGINNING_MS))
    return stream
  } catch (cause) {
    if (cause instanceof EyrieError) throw cause
    const source = 'source' in found ? found.source : found
    const { state, reason } = source.status()
    const what = 'name' in found ? `${found.name} shows no analysed frame` : 'no picture could be decoded'
    throw new EyrieError('unavailable', `${what}: ${reason ?? `the source is ${state}`}`, { cause })
  }
}

function requireWorking(source: Source): void {
  const { state, reason } = source.status()
  if (state === 'failed') throw new EyrieError('unavailable', reason ?? 'the source has failed')
}

function codecsOf(c: Context): PlayableCodec[] {
  const parsed = playableCodecs.safeParse(c.req.query('codecs'))
  if (parsed.success) return parsed.data
  throw new EyrieError('syntax', `codecs must be a list of ${playableCodec.options.join(', ')}, with commas`)
}

function describe(source: Source) {
  const { id, state, reason, attempts, next_try_at, clock, loss } = source.status()
  return {
    ...{ id, state, reason, attempts, next_try_at, clock, loss },
    ...source.stream.info(),
    sound: source.sound?.codec(),
    viewers: source.variants.viewers(),
  }
}

function describeHosted({ name, source, stream, failure }: Hosted) {
  const { id, state } = source.status()
  return { id: name, source: id, state, reason: failure(), ...stream.info(), viewers: stream.viewers() }
}
