import { open } from 'node:fs/promises'
import { EyrieError, idText, recordingQuery } from '@eyrie/contract'
import { parseAs } from '@eyrie/contract/parse'
import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { timeText } from './archive.ts'
import type { Piece } from './clip.ts'
import { type Asked, alike, found, play, type Recorded } from './playback.ts'
import type { Recordings } from './recordings.ts'

/** A clip is described in memory before it is sent. */
const MOST_CLIP_S = 4 * 3600
const READ_BYTES = 1 << 20
const LATEST_US = 8e18 / 1000

/** Recordings: lists, playback, clips, what was found in them, and their removal. A stream has its source's id. */
export function recordingRoutes(app: Hono<{ Bindings: HttpBindings }>, recordings: Recordings): void {
  app.get('/recordings', async c => {
    const stream = c.req.query('stream')
    const { fromUs, toUs } = asked(c)
    return c.json(
      await recordings.list(
        stream === undefined ? undefined : parseAs(idText, stream, '/stream'),
        fromUs,
        toUs,
      ),
    )
  })

  app.get('/recordings/:id', async c => {
    const times = asked(c)
    const rows = await recorded(c, times)
    const same = alike(rows)
    const { codecs, beginUs, width, height } = same[0]!
    const next = rows[same.length]
    return c.body(body(play(recordings.archive, same, times)), 200, {
      'Content-Type': `video/mp4; codecs="${codecs}"`,
      'Cache-Control': 'no-store',
      'X-Recorded-From': timeText(Math.max(times.fromUs, beginUs)),
      'X-Recorded-Size': `${width}x${height}`,
      ...(next && {
        Link: `<?${new URLSearchParams({ ...c.req.query(), from: timeText(behind(same.at(-1)!, next)) })}>; rel="next"`,
      }),
    })
  })

  app.get('/recordings/:id/clip.mp4', async c => {
    const times = asked(c)
    if (times.toUs - times.fromUs > MOST_CLIP_S * 1e6)
      throw new EyrieError('syntax', `a clip has ${MOST_CLIP_S} s at most: ask for several, with from and to`)
    const [{ source }] = await recorded(c, times)
    const clip = await recordings.archive.clip(source, times.fromUs, times.toUs)
    if (!clip) throw nothing(source)
    const name = `${source}-${timeText(times.fromUs).replaceAll(':', '-')}.mp4`
    return c.body(body(parts(clip)), 200, {
      'Content-Type': 'video/mp4',
      'Content-Length': String(clip.bytes),
      'Content-Disposition': `attachment; filename="${name}"`,
      'Cache-Control': 'no-store',
    })
  })

  app.get('/recordings/:id/metadata', async c => {
    const times = asked(c)
    const rows = alike(await recorded(c, times))
    return c.body(body(found(recordings.archive, rows, times)), 200, {
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

  async function recorded(c: Context, { fromUs, toUs }: Asked): Promise<[Recorded, ...Recorded[]]> {
    const source = idOf(c)
    const [first, ...rest] = await recordings.archive.segments(source, fromUs, toUs)
    if (!first) throw nothing(source)
    return [first, ...rest]
  }
}

/** The next whole millisecond that is of the second recording alone. */
const behind = (before: Recorded, next: Recorded) =>
  Math.ceil(Math.max(before.endUs, next.beginUs) / 1000) * 1000

const idOf = (c: Context) => parseAs(idText, c.req.param('id'), '/stream')

const nothing = (source: number) =>
  new EyrieError('id', `nothing is recorded of stream ${source} in this time: GET /recordings lists what is`)

function asked(c: Context): Asked {
  const { from, to } = parseAs(recordingQuery, c.req.query())
  const asked = { fromUs: from ? Date.parse(from) * 1000 : 0, toUs: to ? Date.parse(to) * 1000 : LATEST_US }
  if (asked.fromUs >= asked.toUs) throw new EyrieError('syntax', '/to: it must be later than from')
  return asked
}

async function* parts({
  head,
  pieces,
}: {
  head: Uint8Array
  pieces: readonly Piece[]
}): AsyncGenerator<Uint8Array> {
  yield head
  for (const { path, offset, length } of pieces) {
    const file = await open(path)
    try {
      for (let done = 0; done < length; ) {
        const bytes = Buffer.alloc(Math.min(READ_BYTES, length - done))
        const { bytesRead } = await file.read(bytes, 0, bytes.length, offset + done)
        if (bytesRead === 0) throw new Error(`${path} is shorter than it was`)
        yield bytes.subarray(0, bytesRead)
        done += bytesRead
      }
    } finally {
      await file.close()
    }
  }
}

/** Read no faster than its reader does. */
function body(bytes: AsyncGenerator<Uint8Array>): ReadableStream {
  return ReadableStream.from(bytes)
}
