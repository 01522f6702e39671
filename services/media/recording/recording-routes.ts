import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { EyrieError, idParameter, type RecordedSegmentList, recordingQuery } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { toIsoTime } from './archive/recording-archive.ts'
import { createClipCache } from './playback/clip-cache.ts'
import { readSlices } from './playback/file-slices.ts'
import { respondWithRange } from './playback/range-response.ts'
import {
  playRecording,
  type RecordedSegment,
  readMetadata,
  type TimeRange,
  takeSameFormat,
} from './playback/recording-playback.ts'
import type { Recordings } from './recordings.ts'

/** The index of a clip is created in memory. */
const MAX_CLIP_S = 4 * 3600
/** In the year 2223: exact as a JavaScript number. */
const MAX_TIME_US = 8e15

/** Recordings: lists, playback, clips, segment files, events, metadata and deletion. A stream has the id of its source. */
export function recordingRoutes(app: Hono<{ Bindings: HttpBindings }>, recordings: Recordings): void {
  const getClip = createClipCache(() => recordings.archive)

  app.get('/recordings', async c => {
    const text = c.req.query('stream')
    const { fromUs, toUs } = parseTimeRange(c)
    const stream = text === undefined ? undefined : parseAs(idParameter, text, '/stream')
    return c.json(await recordings.list(stream, fromUs, toUs))
  })

  app.get('/recordings/:id', async c => {
    const range = parseTimeRange(c)
    const segments = await findSegments(c, range)
    const played = takeSameFormat(segments)
    const { codecs, beginUs, width, height } = played[0]!
    const next = segments[played.length]
    const nextFrom = next && toIsoTime(findTimeAfter(played.at(-1)!, next))
    return c.body(ReadableStream.from(playRecording(recordings.archive, played, range)), 200, {
      'Content-Type': `video/mp4; codecs="${codecs}"`,
      'Cache-Control': 'no-store',
      // The length is unknown: the file is created while it is read.
      'Accept-Ranges': 'none',
      'X-Recorded-From': toIsoTime(Math.max(range.fromUs, beginUs)),
      'X-Recorded-Size': `${width}x${height}`,
      ...(nextFrom && {
        Link: `<?${new URLSearchParams({ ...c.req.query(), from: nextFrom })}>; rel="next"`,
      }),
    })
  })

  app.get('/recordings/:id/clip.mp4', async c => {
    const requested = parseTimeRange(c)
    const { from, to } = c.req.query()
    if (from && to) assertClipLength(requested)
    const segments = await findSegments(c, requested)
    const { source, beginUs } = segments[0]
    // Without `from` or `to`, the clip has the beginning or end of the recordings.
    const range = {
      fromUs: from ? requested.fromUs : beginUs,
      toUs: to ? requested.toUs : segments.at(-1)!.endUs,
    }
    assertClipLength(range)
    const clip = await getClip(segments, range)
    if (!clip) throw createNothingRecordedError(source)
    const name = `${source}-${toIsoTime(range.fromUs).replaceAll(':', '-')}.mp4`
    return respondWithRange(c, {
      bytes: clip.bytes,
      tag: clip.tag,
      headers: {
        'Content-Type': 'video/mp4',
        'Content-Disposition': `attachment; filename="${name}"`,
        'Cache-Control': 'no-store',
      },
      read: (start, end) => readSlices(clip, start, end),
    })
  })

  app.get('/recordings/:id/segments', async c => {
    const { fromUs, toUs } = parseTimeRange(c)
    const rows = await recordings.archive.segments(parseSource(c), fromUs, toUs)
    const segments = rows.map(({ file, beginUs, endUs, bytes, codecs, open }) => ({
      name: basename(file),
      from: toIsoTime(beginUs),
      to: toIsoTime(endUs),
      bytes,
      codecs,
      open: open === 1,
    }))
    return c.json({ segments } satisfies RecordedSegmentList)
  })

  app.get('/recordings/:id/segments/:name', async c => {
    const source = parseSource(c)
    const path = await recordings.archive.findPath(source, c.req.param('name'))
    const file = path === undefined ? undefined : await stat(path).catch(() => undefined)
    if (path === undefined || !file) {
      throw new EyrieError(
        'id',
        `stream ${source} has no such file: GET /recordings/${source}/segments lists them`,
      )
    }
    const slices = [{ path, offset: 0, length: file.size }]
    return respondWithRange(c, {
      bytes: file.size,
      tag: `${file.size.toString(36)}-${Math.round(file.mtimeMs).toString(36)}`,
      headers: { 'Content-Type': 'video/mp4', 'Cache-Control': 'no-cache' },
      read: (start, end) => readSlices({ head: new Uint8Array(), slices }, start, end),
    })
  })

  app.get('/recordings/:id/events', async c => {
    const { fromUs, toUs } = parseTimeRange(c)
    return c.json(await recordings.archive.events(parseSource(c), fromUs, toUs))
  })

  app.get('/recordings/:id/metadata', async c => {
    const range = parseTimeRange(c)
    const segments = takeSameFormat(await findSegments(c, range))
    return c.body(ReadableStream.from(readMetadata(recordings.archive, segments, range)), 200, {
      'Content-Type': 'application/x-ndjson',
      'Cache-Control': 'no-store',
    })
  })

  app.delete('/recordings/:id', async c => {
    const { fromUs, toUs } = parseTimeRange(c)
    const source = parseSource(c)
    // Throws for a stream without recordings.
    await recordings.list(source, fromUs, toUs)
    return c.json(await recordings.remove(source, fromUs, toUs))
  })

  async function findSegments(
    c: Context,
    { fromUs, toUs }: TimeRange,
  ): Promise<[RecordedSegment, ...RecordedSegment[]]> {
    const source = parseSource(c)
    const [first, ...rest] = await recordings.archive.segments(source, fromUs, toUs)
    if (!first) throw createNothingRecordedError(source)
    return [first, ...rest]
  }
}

/** The first full millisecond in which only the second segment is recorded. */
function findTimeAfter(last: RecordedSegment, next: RecordedSegment): number {
  return Math.ceil(Math.max(last.endUs, next.beginUs) / 1000) * 1000
}

function assertClipLength({ fromUs, toUs }: TimeRange): void {
  if (toUs - fromUs <= MAX_CLIP_S * 1e6) return
  throw new EyrieError(
    'syntax',
    `a clip may not be longer than ${MAX_CLIP_S} s: request several with from and to`,
  )
}

const parseSource = (c: Context) => parseAs(idParameter, c.req.param('id'), '/stream')

function createNothingRecordedError(source: number): EyrieError {
  const reason = `stream ${source} has no recordings in this time: GET /recordings lists what exists`
  return new EyrieError('id', reason)
}

function parseTimeRange(c: Context): TimeRange {
  const { from, to } = parseAs(recordingQuery, c.req.query())
  const fromUs = from ? Date.parse(from) * 1000 : 0
  const toUs = to ? Date.parse(to) * 1000 : MAX_TIME_US
  if (fromUs >= toUs) throw new EyrieError('syntax', '/to: it must be later than from')
  return { fromUs, toUs }
}
