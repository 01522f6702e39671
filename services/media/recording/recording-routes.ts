import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import {
  EyrieError,
  idParameter,
  type RecordedSegmentList,
  recordedResultsQuery,
  recordingQuery,
} from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { toIsoTime } from '../runtime/clock.ts'
import type { RecordedSegment } from './archive/archive-queries.ts'
import { MAX_TIME_US } from './archive/recording-index.ts'
import type { RemoteArchive } from './archive/remote-archive.ts'
import { createClipCache } from './playback/clip-cache.ts'
import { readSlices } from './playback/file-slices.ts'
import { respondWithRange } from './playback/range-response.ts'
import {
  playRecording,
  readMetadata,
  type TimeRange,
  takeSameFormat,
} from './playback/recording-playback.ts'
import type { Recordings } from './recordings.ts'

/** Limits the memory for the index of a clip. */
const MAX_CLIP_S = 4 * 3600

type RecordingContext = Context<{ Bindings: HttpBindings }>

/**
 * HTTP routes of recordings: lists, playback, clips, segment files, events, metadata, deletion. A
 * recording consists of segments, which are MP4 files of a few minutes. The API calls a source (a
 * camera or file) a stream; both have the same ID.
 */
export function recordingRoutes(
  app: Hono<{ Bindings: HttpBindings }>,
  recordings: Recordings,
): void {
  const getClip = createClipCache(() => recordings.archive)

  app.get('/recordings', c => listRecordings(c, recordings))
  app.get('/recordings/:id', c => sendRecording(c, recordings.archive))
  app.get('/recordings/:id/clip.mp4', c => sendClip(c, recordings.archive, getClip))
  app.get('/recordings/:id/segments', c => listSegments(c, recordings.archive))
  app.get('/recordings/:id/segments/:name', c =>
    sendSegmentFile(c, recordings.archive, c.req.param('name')),
  )
  app.get('/recordings/:id/events', c => listEvents(c, recordings.archive))
  app.get('/recordings/:id/metadata', c => sendMetadata(c, recordings.archive))
  app.delete('/recordings/:id', c => deleteRecordings(c, recordings))
}

async function listRecordings(c: RecordingContext, recordings: Recordings): Promise<Response> {
  const id = c.req.query('stream')
  const { fromUs, toUs } = parseTimeRange(c)
  const stream = id === undefined ? undefined : parseAs(idParameter, id, '/stream')
  return c.json(await recordings.list(stream, fromUs, toUs))
}

/**
 * Sends the first recordings of the time range that share a format. A `Link` header
 * refers to the next ones.
 */
async function sendRecording(c: RecordingContext, archive: RemoteArchive): Promise<Response> {
  const range = parseTimeRange(c)
  const segments = await findSegments(c, archive, range)
  const played = takeSameFormat(segments)
  const next = segments[played.length]
  const { codecs, beginUs, width, height } = segments[0]

  return c.body(ReadableStream.from(playRecording(archive, played, range)), 200, {
    'Content-Type': `video/mp4; codecs="${codecs}"`,
    'Cache-Control': 'no-store',
    // The length is unknown, because the file is created while it is sent.
    'Accept-Ranges': 'none',
    'X-Recorded-From': toIsoTime(Math.max(range.fromUs, beginUs)),
    'X-Recorded-Size': `${width}x${height}`,
    ...(next && { Link: formatNextLink(c, findTimeAfter(played.at(-1)!, next)) }),
  })
}

/** Returns a `Link` header (RFC 8288) to the same request from a later time. */
function formatNextLink(c: RecordingContext, fromUs: number): string {
  const query = new URLSearchParams({ ...c.req.query(), from: toIsoTime(fromUs) })
  return `<?${query}>; rel="next"`
}

/**
 * Returns the first full millisecond after the end of `last` in which `next` is recorded, in µs.
 */
function findTimeAfter(last: RecordedSegment, next: RecordedSegment): number {
  return Math.ceil(Math.max(last.endUs, next.beginUs) / 1000) * 1000
}

async function sendClip(
  c: RecordingContext,
  archive: RemoteArchive,
  getClip: ReturnType<typeof createClipCache>,
): Promise<Response> {
  const requested = parseTimeRange(c)
  const { from, to } = c.req.query()
  if (from && to) assertClipLength(requested)

  const segments = await findSegments(c, archive, requested)
  const { source, beginUs } = segments[0]
  // Without `from` or `to`, the clip begins or ends with the recordings.
  const range = {
    fromUs: from ? requested.fromUs : beginUs,
    toUs: to ? requested.toUs : segments.at(-1)!.endUs,
  }
  assertClipLength(range)

  const clip = await getClip(segments, range)
  if (!clip) throw createNothingRecordedError(source)
  const name = `${source}-${toIsoTime(range.fromUs).replaceAll(':', '-')}.mp4`
  return respondWithRange(c, {
    size: clip.bytes,
    tag: clip.tag,
    headers: {
      'Content-Type': 'video/mp4',
      'Content-Disposition': `attachment; filename="${name}"`,
      'Cache-Control': 'no-store',
    },
    read: (start, end) => readSlices(clip, start, end),
  })
}

async function listSegments(c: RecordingContext, archive: RemoteArchive): Promise<Response> {
  const { fromUs, toUs } = parseTimeRange(c)
  const rows = await archive.findSegments(parseSource(c), fromUs, toUs)
  const segments = rows.map(({ file, beginUs, endUs, bytes, codecs, open }) => ({
    name: basename(file),
    from: toIsoTime(beginUs),
    to: toIsoTime(endUs),
    bytes,
    codecs,
    open: open === 1,
  }))
  return c.json({ segments } satisfies RecordedSegmentList)
}

async function sendSegmentFile(
  c: RecordingContext,
  archive: RemoteArchive,
  name: string,
): Promise<Response> {
  const source = parseSource(c)
  const path = await archive.findPath(source, name)
  if (path === undefined) throw createNoFileError(source)
  const file = await stat(path).catch(() => undefined)
  if (!file) throw createNoFileError(source)

  const slices = [{ path, offset: 0, length: file.size }]
  return respondWithRange(c, {
    size: file.size,
    tag: `${file.size.toString(36)}-${Math.round(file.mtimeMs).toString(36)}`,
    headers: { 'Content-Type': 'video/mp4', 'Cache-Control': 'no-cache' },
    read: (start, end) => readSlices({ head: new Uint8Array(), slices }, start, end),
  })
}

async function listEvents(c: RecordingContext, archive: RemoteArchive): Promise<Response> {
  const { fromUs, toUs } = parseTimeRange(c)
  return c.json(await archive.listEvents(parseSource(c), fromUs, toUs, parseChannels(c)))
}

async function sendMetadata(c: RecordingContext, archive: RemoteArchive): Promise<Response> {
  const range = parseTimeRange(c)
  const segments = takeSameFormat(await findSegments(c, archive, range))
  return c.body(
    ReadableStream.from(readMetadata(archive, segments, range, parseChannels(c))),
    200,
    {
      'Content-Type': 'application/x-ndjson',
      'Cache-Control': 'no-store',
    },
  )
}

async function deleteRecordings(c: RecordingContext, recordings: Recordings): Promise<Response> {
  const { fromUs, toUs } = parseTimeRange(c)
  return c.json(await recordings.remove(parseSource(c), fromUs, toUs))
}

/** Returns at least one segment. Throws `EyrieError` (`id`) if nothing is recorded in this time. */
async function findSegments(
  c: RecordingContext,
  archive: RemoteArchive,
  { fromUs, toUs }: TimeRange,
): Promise<[RecordedSegment, ...RecordedSegment[]]> {
  const source = parseSource(c)
  const [first, ...others] = await archive.findSegments(source, fromUs, toUs)
  if (!first) throw createNothingRecordedError(source)
  return [first, ...others]
}

function assertClipLength({ fromUs, toUs }: TimeRange): void {
  if (toUs - fromUs <= MAX_CLIP_S * 1e6) return
  throw new EyrieError(
    'syntax',
    `a clip may not be longer than ${MAX_CLIP_S} s: request several with from and to`,
  )
}

const parseSource = (c: RecordingContext) => parseAs(idParameter, c.req.param('id'), '/stream')

function createNothingRecordedError(source: number): EyrieError {
  const reason = `stream ${source} has no recordings in this time: GET /recordings lists what exists`
  return new EyrieError('id', reason)
}

function createNoFileError(source: number): EyrieError {
  const reason = `stream ${source} has no such file: GET /recordings/${source}/segments lists them`
  return new EyrieError('id', reason)
}

/** Returns the channels in the query parameter `channels`; undefined for all channels. */
const parseChannels = (c: RecordingContext) => parseAs(recordedResultsQuery, c.req.query()).channels

/** Parses the query parameters `from` and `to`. Without them, the range is unlimited. */
function parseTimeRange(c: RecordingContext): TimeRange {
  const { from, to } = parseAs(recordingQuery, c.req.query())
  const fromUs = from ? Date.parse(from) * 1000 : 0
  const toUs = to ? Date.parse(to) * 1000 : MAX_TIME_US
  if (fromUs >= toUs) throw new EyrieError('syntax', '/to: it must be later than from')
  return { fromUs, toUs }
}
