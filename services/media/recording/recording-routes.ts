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

/** A clip is described in memory before it is sent. */
const MOST_CLIP_S = 4 * 3600
const LATEST_US = 8e18 / 1000

/**
 * Recordings: lists, playback, clips, files, what was found in them and has happened, and their removal. A stream has its
 * source's id.
 */
export function recordingRoutes(app: Hono<{ Bindings: HttpBindings }>, recordings: Recordings): void {
  const clipOf = createClipCache(() => recordings.archive)

  app.get('/recordings', async c => {
    const stream = c.req.query('stream')
    const { fromUs, toUs } = asked(c)
    return c.json(
      await recordings.list(
        stream === undefined ? undefined : parseAs(idParameter, stream, '/stream'),
        fromUs,
        toUs,
      ),
    )
  })

  app.get('/recordings/:id', async c => {
    const times = asked(c)
    const rows = await recorded(c, times)
    const same = takeSameFormat(rows)
    const { codecs, beginUs, width, height } = same[0]!
    const next = rows[same.length]
    return c.body(body(playRecording(recordings.archive, same, times)), 200, {
      'Content-Type': `video/mp4; codecs="${codecs}"`,
      'Cache-Control': 'no-store',
      // It is made while it is read, and may grow meanwhile.
      'Accept-Ranges': 'none',
      'X-Recorded-From': toIsoTime(Math.max(times.fromUs, beginUs)),
      'X-Recorded-Size': `${width}x${height}`,
      ...(next && {
        Link: `<?${new URLSearchParams({ ...c.req.query(), from: toIsoTime(behind(same.at(-1)!, next)) })}>; rel="next"`,
      }),
    })
  })

  app.get('/recordings/:id/clip.mp4', async c => {
    const wanted = asked(c)
    const { from, to } = c.req.query()
    if (from && to) requireClip(wanted)
    const rows = await recorded(c, wanted)
    const [{ source, beginUs }] = rows
    // An end that is not named is that of what is recorded.
    const times = {
      fromUs: from ? wanted.fromUs : beginUs,
      toUs: to ? wanted.toUs : rows.at(-1)!.endUs,
    }
    requireClip(times)
    const clip = await clipOf(rows, times)
    if (!clip) throw nothing(source)
    const name = `${source}-${toIsoTime(times.fromUs).replaceAll(':', '-')}.mp4`
    return respondWithRange(c, {
      bytes: clip.bytes,
      tag: clip.tag,
      headers: {
        'Content-Type': 'video/mp4',
        'Content-Disposition': `attachment; filename="${name}"`,
        'Cache-Control': 'no-store',
      },
      read: (from, to) => readSlices(clip, from, to),
    })
  })

  app.get('/recordings/:id/segments', async c => {
    const { fromUs, toUs } = asked(c)
    const rows = await recordings.archive.segments(idOf(c), fromUs, toUs)
    const segments = rows.map(({ file, beginUs, endUs, bytes, codecs, open }) => ({
      ...{ name: basename(file), from: toIsoTime(beginUs), to: toIsoTime(endUs), bytes, codecs },
      open: open === 1,
    }))
    return c.json({ segments } satisfies RecordedSegmentList)
  })

  app.get('/recordings/:id/segments/:name', async c => {
    const source = idOf(c)
    const path = await recordings.archive.segmentAt(source, c.req.param('name'))
    const found = path === undefined ? undefined : await stat(path).catch(() => undefined)
    if (path === undefined || !found)
      throw new EyrieError(
        'id',
        `stream ${source} has no such file: GET /recordings/${source}/segments lists them`,
      )
    const { size, mtimeMs } = found
    return respondWithRange(c, {
      bytes: size,
      tag: `${size.toString(36)}-${Math.round(mtimeMs).toString(36)}`,
      headers: { 'Content-Type': 'video/mp4', 'Cache-Control': 'no-cache' },
      read: (from, to) =>
        readSlices({ head: new Uint8Array(), slices: [{ path, offset: 0, length: size }] }, from, to),
    })
  })

  app.get('/recordings/:id/events', async c => {
    const { fromUs, toUs } = asked(c)
    return c.json(await recordings.archive.events(idOf(c), fromUs, toUs))
  })

  app.get('/recordings/:id/metadata', async c => {
    const times = asked(c)
    const rows = takeSameFormat(await recorded(c, times))
    return c.body(body(readMetadata(recordings.archive, rows, times)), 200, {
      'Content-Type': 'application/x-ndjson',
      'Cache-Control': 'no-store',
    })
  })

  app.delete('/recordings/:id', async c => {
    const { fromUs, toUs } = asked(c)
    const source = idOf(c)
    await recordings.list(source, fromUs, toUs)
    return c.json(await recordings.remove(source, fromUs, toUs))
  })

  async function recorded(
    c: Context,
    { fromUs, toUs }: TimeRange,
  ): Promise<[RecordedSegment, ...RecordedSegment[]]> {
    const source = idOf(c)
    const [first, ...rest] = await recordings.archive.segments(source, fromUs, toUs)
    if (!first) throw nothing(source)
    return [first, ...rest]
  }
}

/** The next whole millisecond that is of the second recording alone. */
const behind = (before: RecordedSegment, next: RecordedSegment) =>
  Math.ceil(Math.max(before.endUs, next.beginUs) / 1000) * 1000

function requireClip({ fromUs, toUs }: TimeRange): void {
  if (toUs - fromUs > MOST_CLIP_S * 1e6)
    throw new EyrieError('syntax', `a clip has ${MOST_CLIP_S} s at most: ask for several, with from and to`)
}

const idOf = (c: Context) => parseAs(idParameter, c.req.param('id'), '/stream')

const nothing = (source: number) =>
  new EyrieError('id', `nothing is recorded of stream ${source} in this time: GET /recordings lists what is`)

function asked(c: Context): TimeRange {
  const { from, to } = parseAs(recordingQuery, c.req.query())
  const asked = { fromUs: from ? Date.parse(from) * 1000 : 0, toUs: to ? Date.parse(to) * 1000 : LATEST_US }
  if (asked.fromUs >= asked.toUs) throw new EyrieError('syntax', '/to: it must be later than from')
  return asked
}

/** Read no faster than its reader does. */
function body(bytes: AsyncGenerator<Uint8Array>): ReadableStream {
  return ReadableStream.from(bytes)
}
