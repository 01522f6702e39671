import {
  EyrieError,
  integerParameter,
  type PlayableCodec,
  playableCodec,
  playableCodecs,
  type StreamSize,
  snapshotRequest,
  streamSize,
  TICKS_PER_SECOND,
} from '@eyrie/contract'
import { limitBodySize, parseJsonBody } from '@eyrie/kit/request-body'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import { parseStreamSize } from '../http/stream-size.ts'
import type { Sound } from '../sound/source-sound.ts'
import type { Source } from '../sources/source.ts'
import type { SourceRegistry } from '../sources/source-registry.ts'
import type { Stream, Track, Viewer } from '../stream/live-stream.ts'
import type { PlayableTrack } from '../stream/sample-entry.ts'
import { addSound } from '../stream/stream-with-sound.ts'
import type { Variants } from '../transcode/source-variants.ts'
import type { WebRtc } from '../webrtc/webrtc.ts'
import type { AnnotatedStream } from './annotated/annotated-stream.ts'
import type { AnnotatedStreams } from './annotated/annotated-streams.ts'
import type { Snapshot, Snapshots } from './snapshots/stream-snapshots.ts'
import { createChunkedBody, createViewerEvents } from './stream-viewers.ts'

/** A request for a snapshot lists the boxes to draw. */
const MAX_BODY_BYTES = 4 << 20
/** Maximum time for the start of a stream that is produced on demand. */
const START_TIMEOUT_MS = 10_000
/**
 * An analysed picture of the small stream may be newer than the newest one of the main stream by
 * this much, one second.
 */
const MAX_SNAPSHOT_LEAD_TICKS = TICKS_PER_SECOND

/** All streams of the media service. */
export interface LiveStreams {
  sources: SourceRegistry
  annotated: AnnotatedStreams
}

/**
 * A stream of the API: a source, which has a numeric ID, or an annotated stream, which has a name.
 */
type LiveStream = Source | AnnotatedStream

const isSource = (live: LiveStream): live is Source => 'variants' in live

/**
 * Snapshots with boxes or hidden faces are requested from the engine, because the media service
 * does not know the objects.
 */
const snapshotQuery = z.strictObject({
  pts: integerParameter(0, Number.MAX_SAFE_INTEGER).optional(),
  width: integerParameter(16, 8192).optional(),
  size: streamSize.default('full'),
})

/**
 * Adds the routes that viewers use: live views as fragmented MP4, over HTTP or a WebSocket, and
 * snapshots, which are single pictures.
 */
export function liveRoutes(
  app: Hono<{ Bindings: HttpBindings }>,
  streams: LiveStreams,
  snapshots: Snapshots,
  { canCarry }: Pick<WebRtc, 'canCarry'>,
): void {
  const describeSource = (source: Source) => ({
    ...describeStatus(source),
    b_frames: canCarry(source.stream) ? undefined : true,
  })
  const getLive = (c: Context) => findLive(c.req.param('id') ?? '', streams)

  app.get('/streams', c =>
    c.json([
      ...streams.sources.list().map(describeSource),
      ...streams.annotated.list().map(describeAnnotated),
    ]),
  )

  app.get('/streams/:id', async c => {
    const live = getLive(c)
    const codecs = parseCodecs(c)
    const video = await startStream(live, selectStream(live, codecs, parseStreamSize(c)))
    const videoInfo = video.info()
    if (!videoInfo) throw new EyrieError('unavailable', 'the stream has no picture yet')

    const stream = await addRequestedSound(live, video, codecs)
    const headers = {
      'Content-Type': `video/mp4; codecs="${stream.info()?.codecs}"`,
      'Cache-Control': 'no-store',
      'X-Epoch': String(videoInfo.epoch),
      'X-Pts': String(stream.newestPts()),
    }

    if (c.req.method === 'HEAD') {
      // The sound stops when a viewer leaves. The body of a response to HEAD is never cancelled.
      stream.watch(absentViewer)()
      return c.body(null, 200, headers)
    }
    return c.body(createChunkedBody(stream), 200, headers)
  })

  app.get(
    '/streams/:id/ws',
    serveWebSocket(
      c => ({ live: getLive(c), codecs: parseCodecs(c), size: parseStreamSize(c) }),
      ({ live, codecs, size }) =>
        createViewerEvents(() => addRequestedSound(live, selectStream(live, codecs, size), codecs)),
    ),
  )

  app.get('/streams/:id/snapshot.jpg', async c => {
    // Credentials in the query are not parameters of the snapshot.
    const { ticket: _ticket, access_token: _token, ...query } = c.req.query()
    const parsed = snapshotQuery.safeParse(query)
    if (!parsed.success) throw new EyrieError('syntax', explainQueryError(parsed.error))

    const { size, ...request } = parsed.data
    const stream = await selectSnapshotStream(getLive(c), { size, pts: request.pts })
    return respondWithSnapshot(c, await snapshots.take(stream, request, c.req.raw.signal))
  })

  app.post('/streams/:id/snapshot.jpg', limitBodySize(MAX_BODY_BYTES), async c => {
    const request = await parseJsonBody(c, snapshotRequest)
    const stream = await selectSnapshotStream(getLive(c), { size: 'full', pts: request.pts })
    return respondWithSnapshot(c, await snapshots.take(stream, request, c.req.raw.signal))
  })
}

/** A viewer that ignores the stream. */
const absentViewer: Viewer<PlayableTrack> = {
  begin() {},
  fragment() {},
  backlog: () => 0,
  end() {},
}

/**
 * Opens a stream for WebRTC. With `transcoded`, a source is encoded anew, because WebRTC can carry
 * neither B-frames nor every H.264 profile.
 */
export function openH264Stream(
  id: string,
  streams: LiveStreams,
  { transcoded = false, size = 'full' }: { transcoded?: boolean; size?: StreamSize } = {},
): Promise<Stream> {
  const live = findLive(id, streams)
  if (!isSource(live)) return startStream(live, live.stream)
  const variants = selectVariants(live, size)
  return startStream(live, transcoded ? variants.transcoded : variants.h264)
}

/** Returns the sound of a stream's source; undefined if sources of this type never have sound. */
export const findSound = (id: string, streams: LiveStreams): Sound | undefined =>
  getSound(findLive(id, streams))

/**
 * Throws `EyrieError` if the stream does not exist (`id`) or its source has failed (`unavailable`).
 */
function findLive(id: string, { sources, annotated }: LiveStreams): LiveStream {
  const live = /^\d+$/.test(id) ? sources.get(Number(id)) : annotated.get(id)
  if (!live) {
    throw new EyrieError('id', `stream ${id} does not exist: GET /streams lists all streams`)
  }
  if (isSource(live)) assertNotFailed(live)
  return live
}

function assertNotFailed(source: Source): void {
  const { state, reason } = source.status()
  if (state === 'failed') throw new EyrieError('unavailable', reason ?? 'the source has failed')
}

function getSound(live: LiveStream): Sound | undefined {
  return isSource(live) ? live.sound : live.source.sound
}

/** Selects the small stream of a source that has one, if it is requested. */
function selectVariants(source: Source, size: StreamSize): Variants {
  return size === 'small' && source.smallVariants ? source.smallVariants : source.variants
}

/** Selects the packets for a viewer: H.264 unless the viewer can also play H.265. */
function selectStream(
  live: LiveStream,
  codecs: readonly PlayableCodec[],
  size: StreamSize,
): Stream<PlayableTrack> {
  if (!isSource(live)) return live.stream
  const { h264, playable } = selectVariants(live, size)
  return codecs.includes('h265') ? playable : h264
}

async function addRequestedSound(
  live: LiveStream,
  video: Stream<PlayableTrack>,
  codecs: readonly PlayableCodec[],
): Promise<Stream<PlayableTrack>> {
  const sound = getSound(live)
  return sound && codecs.includes('aac') ? addSound(video, sound) : video
}

/** Selects the original packets in any codec, or H.264 for a source of raw pictures. */
async function selectSnapshotStream(
  live: LiveStream,
  { size, pts }: { size: StreamSize; pts: number | undefined },
): Promise<Stream<Track>> {
  if (!isSource(live)) return startStream(live, live.stream)
  const { original, h264 } = selectVariants(live, size)
  if (!original.track()) return startStream(live, h264)

  // While the main stream is lost, only the small stream has the pictures that are analysed.
  const isMissing = pts !== undefined && original.newestPts() < pts - MAX_SNAPSHOT_LEAD_TICKS
  return (isMissing && live.smallVariants?.original) || original
}

/**
 * Waits until a stream that is produced on demand has started. Throws `EyrieError` (`unavailable`)
 * if it cannot be produced.
 */
async function startStream<Carried extends Track>(
  live: LiveStream,
  stream: Stream<Carried>,
): Promise<Stream<Carried>> {
  try {
    await stream.waitUntilStarted?.(AbortSignal.timeout(START_TIMEOUT_MS))
    return stream
  } catch (cause) {
    if (cause instanceof EyrieError) throw cause

    const source = isSource(live) ? live : live.source
    const problem = isSource(live)
      ? 'no picture could be decoded'
      : `${live.name} has no analysed frame`
    const { state, reason } = source.status()
    throw new EyrieError('unavailable', `${problem}: ${reason ?? `the source is ${state}`}`, {
      cause,
    })
  }
}

/** Parses the codecs that the viewer can play. */
function parseCodecs(c: Context): PlayableCodec[] {
  const parsed = playableCodecs.safeParse(c.req.query('codecs'))
  if (parsed.success) return parsed.data
  const known = playableCodec.options.join(', ')
  throw new EyrieError('syntax', `codecs must be a comma-separated list of ${known}`)
}

function explainQueryError({ issues: [issue] }: z.ZodError): string {
  if (issue?.code === 'unrecognized_keys') {
    return `unknown parameter ${issue.keys.join(', ')}: request snapshots with objects from the engine's channel`
  }
  if (issue?.path[0] === 'size') return `size must be one of ${streamSize.options.join(', ')}`
  if (issue?.path[0] === 'pts') return 'pts must be a whole number of 90 kHz ticks'
  return 'width must be a whole number from 16 to 8192'
}

function respondWithSnapshot(c: Context, { jpeg, pts }: Snapshot) {
  return c.body(jpeg, 200, {
    'Content-Type': 'image/jpeg',
    'Cache-Control': 'no-store',
    'X-Pts': String(pts),
  })
}

function describeStatus(source: Source) {
  const { id, state, reason, codec, attempts, next_try_at, clock, loss, sub } = source.status()
  return {
    id,
    state,
    reason,
    codec,
    attempts,
    next_try_at,
    clock,
    loss,
    ...source.stream.info(),
    sub,
    sound: source.sound?.codec(),
    viewers: source.variants.viewerCount(),
  }
}

function describeAnnotated({ name, source, stream, failure }: AnnotatedStream) {
  const { id, state } = source.status()
  return {
    id: name,
    source: id,
    state,
    reason: failure(),
    ...stream.info(),
    viewers: stream.viewerCount(),
  }
}
