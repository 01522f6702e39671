import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type RecordedStream,
  recordedEventList,
  recordedFrame,
  recordedSegmentList,
} from '@eyrie/contract'
import { describe, expect, it, vi } from 'vitest'
import {
  numberedShape,
  readNumbers,
  readPlayedNumbers,
} from '../../../test/fixtures/media/numbered-video.ts'
import {
  continuousRecording,
  listRecordings,
  openNumberedRecording,
  serveNumberedRecording,
  waitForRecordedSeconds,
} from '../../../test/fixtures/media/recorded-stream.ts'
import { openMedia, type ServedMedia } from '../../../test/fixtures/media/served-media.ts'
import { shared } from '../../../test/fixtures/setup/shared.ts'

const PATIENCE = { timeout: 60_000, interval: 50 }

async function download(
  media: ServedMedia,
  path: string,
  name = 'download.mp4',
): Promise<{ path: string; answer: Response }> {
  const answer = await fetch(`${media.url}/recordings${path}`)
  const bytes = Buffer.from(await answer.arrayBuffer())
  expect(answer.status, bytes.toString()).toBe(200)
  const file = join(media.folder, name)
  writeFileSync(file, bytes)
  return { path: file, answer }
}

const timeText = (ms: number) => new Date(ms).toISOString()

const SECOND = 90_000

const bell = (pts: number) => ({
  ...({ type: 'event', source: 1, channel: 3 } as const),
  pts,
  time: new Date().toISOString(),
  data: { type: 'bell' },
})

describe('continuous recording', { timeout: 180_000 }, () => {
  const recorded = shared(
    async () => ({ before: Date.now(), ...(await openNumberedRecording()) }),
    ({ media }) => media.remove(),
  )

  /** Returns when the recording began, in ms since 1970, once it has this many seconds. */
  async function waitForBegin(seconds: number): Promise<number> {
    const { ranges } = await waitForRecordedSeconds(recorded.media, seconds)
    return Date.parse(ranges[0]!.from)
  }

  it('is listed by capture time', async () => {
    const { media, before } = recorded
    const { state, dropped, ranges } = await waitForRecordedSeconds(media, 3)
    expect([state, dropped, ranges.length]).toEqual(['recording', 0, 1])
    const [range] = ranges
    expect(range).toMatchObject({ codecs: expect.stringMatching(/^avc1/), width: 640, height: 360 })
    expect(Math.abs(Date.parse(range!.from) - before)).toBeLessThan(30_000)
    expect(await listRecordings(media, `?stream=1&to=${range!.from}`)).toMatchObject([
      { stream: 1, ranges: [] },
    ])
  })

  it('contains every picture across segments, with B-frames', async () => {
    const { media } = recorded
    const begin = await waitForBegin(9)
    const files = () => readdirSync(join(media.folder, 'recordings', '1')).length
    await vi.waitFor(() => expect(files()).toBeGreaterThan(2))
    const { path, answer } = await download(media, `/1?to=${timeText(begin + 9000)}`)
    expect(answer.headers.get('Content-Type')).toMatch(/^video\/mp4; codecs="avc1\.[0-9a-f]{6}"$/)
    const numbers = await readNumbers(path)
    expect(numbers.length).toBeGreaterThan(200)
    expect(numbers).toEqual(numbers.map((_, i) => numbers[0]! + i))
    expect(numbers[0]! % numberedShape.fps).toBe(0)
  })

  it('plays from the keyframe before the requested time', async () => {
    const { media } = recorded
    const begin = await waitForBegin(7)
    const [from, to] = [begin + 2500, begin + 5500].map(timeText)
    const all = await readNumbers((await download(media, `/1?to=${to}`)).path)
    const numbers = await readNumbers((await download(media, `/1?from=${from}&to=${to}`)).path)
    expect(numbers[0]! - all[0]!).toBe(50)
    expect(numbers).toEqual(numbers.map((_, i) => numbers[0]! + i))
    expect(Math.abs(numbers.length - 88)).toBeLessThanOrEqual(25)
  })

  it('is exported as a clip with exactly the requested pictures', async () => {
    const { media } = recorded
    const begin = await waitForBegin(7)
    const [first] = await readNumbers(
      (await download(media, `/1?to=${timeText(begin + 1000)}`)).path,
    )
    const answered = await fetch(`${media.url}/recordings/1/segments`)
    const { segments } = recordedSegmentList.parse(await answered.json())
    const second = segments[1]!
    const [firstOfSecond] = await readNumbers(
      (await download(media, `/1/segments/${second.name}`)).path,
    )
    const frame = 1000 / numberedShape.fps
    // Midway between two pictures. The estimate of capture times can shift a little
    // between two segments.
    const from = timeText(begin + 39.5 * frame)
    const to = timeText(Date.parse(second.from) + (first! + 140.5 - firstOfSecond!) * frame)
    const { path, answer } = await download(media, `/1/clip.mp4?from=${from}&to=${to}`)
    expect(answer.headers.get('Content-Disposition')).toMatch(/^attachment; filename="1-.*\.mp4"$/)
    const numbers = await readPlayedNumbers(path)
    expect(numbers).toEqual(Array.from({ length: 101 }, (_, i) => first! + 40 + i))
    const probe = ['-v', 'error', '-show_entries', 'format=duration', '-of', 'csv=p=0', path]
    expect(Number(execFileSync('ffprobe', probe, { encoding: 'utf8' }))).toBeCloseTo(
      101 / numberedShape.fps,
      1,
    )
  })
})

describe('recorded source', { timeout: 180_000 }, () => {
  it('has metadata of its channels with playback times', async () => {
    const { media, control } = await serveNumberedRecording()
    const { ranges } = await waitForRecordedSeconds(media, 2)
    for (let n = 0; n < 400; n++) {
      const bbox = { x: n / 400, y: 0.1, w: 0.1, h: 0.2 }
      const objects = [{ class: 'person', score: 0.9, bbox, track: 7 }]
      const result = { source: 1, channel: 3, pts: n * 3600, objects, counters: {} }
      // Shapes are reported once per second.
      const shapes = [{ name: String(n), type: 'line', points: [] }]
      control.send({ type: 'result', ...result, ...(n % 25 === 24 && { shapes }) })
    }
    await waitForRecordedSeconds(media, 6)
    const from = new Date(Date.parse(ranges[0]!.from) + 2000).toISOString()
    const readLines = async () => {
      const answer = await fetch(`${media.url}/recordings/1/metadata?from=${from}`)
      expect(answer.headers.get('Content-Type')).toBe('application/x-ndjson')
      const text = await answer.text()
      return text
        .trim()
        .split('\n')
        .map(line => recordedFrame.parse(JSON.parse(line)))
    }
    // The metadata of a fragment is stored a moment after its pictures.
    await vi.waitFor(async () => expect((await readLines()).length).toBeGreaterThan(90), PATIENCE)
    const lines = await readLines()
    const [first] = lines
    expect(first).toMatchObject({ channel: 3, objects: [{ class: 'person', track: 7 }] })
    for (const { pts, at, time } of lines) {
      expect(at).toBeCloseTo((pts - first!.pts) / 90_000 + first!.at, 5)
      expect(Date.parse(time) - Date.parse(first!.time)).toBeCloseTo((pts - first!.pts) / 90, -1)
    }
    expect(first!.at).toBeLessThan(0.2)
    const withShapes = lines.filter(({ shapes }) => shapes)
    expect(withShapes[0]).toBe(first)
    for (const { pts, shapes } of withShapes.slice(1)) {
      expect(shapes).toMatchObject([{ name: String(pts / 3600) }])
    }
    expect(withShapes.length).toBeGreaterThan(3)
  })

  it('retains its recordings and live view when recording is disabled', async () => {
    const { media, control, source } = await serveNumberedRecording()
    await waitForRecordedSeconds(media, 2)
    const before = control.messages.length
    const packets = await media.readMetric('eyrie_media_packets_total', '{source="1"}')
    const { recording: _, ...unrecorded } = source
    await control.apply(unrecorded)
    const [{ state, ranges }] = (await listRecordings(media)) as [RecordedStream]
    expect(state).toBe('off')
    const counted = () => media.readMetric('eyrie_media_packets_total', '{source="1"}')
    await vi.waitFor(async () => expect(await counted()).toBeGreaterThan(packets + 50), PATIENCE)
    expect((await listRecordings(media))[0]!.ranges.map(({ from }) => from)).toEqual(
      ranges.map(({ from }) => from),
    )
    expect(control.messages.slice(before).filter(({ type }) => type === 'source')).toEqual([])
  })

  it('continues after its recordings were deleted', { tags: 'long' }, async () => {
    const { media } = await serveNumberedRecording()
    const { to } = (await waitForRecordedSeconds(media, 6)).ranges.at(-1)!
    const answer = await fetch(`${media.url}/recordings/1`, { method: 'DELETE' })
    expect(await answer.json()).toMatchObject({
      files: expect.any(Number),
      bytes: expect.any(Number),
    })
    const [stream] = await listRecordings(media)
    for (const { from } of stream!.ranges) {
      expect(Date.parse(from)).toBeGreaterThanOrEqual(Date.parse(to))
    }
    await waitForRecordedSeconds(media, 2)
  })
})

describe('recording around events', { timeout: 180_000 }, () => {
  it('contains the seconds before and after each event once', { tags: 'long' }, async () => {
    const { media, control, frames } = await serveNumberedRecording({
      ...{ ...continuousRecording, mode: 'event' },
      before_s: 2,
      after_s: 2,
    })
    const { fps } = numberedShape
    const packets = () => media.readMetric('eyrie_media_packets_total', '{source="1"}')
    const sentEvents: number[] = []
    /** Sends events from this many seconds ago in stream time, which may lag on a busy machine. */
    async function ring(...ago: number[]): Promise<number[]> {
      const now = ((await packets()) * SECOND) / fps
      const rung = ago.map(seconds => now - seconds * SECOND)
      for (const pts of rung) control.send(bell(pts))
      sentEvents.push(...rung)
      return rung
    }
    /**
     * Pictures from the keyframe before the first event's lead to the one after the last event's
     * trail.
     */
    const around = (rung: number[]) => {
      const first = Math.floor(rung[0]! / SECOND - 2) * fps
      const end = Math.floor(rung.at(-1)! / SECOND + 2 + 1) * fps
      return Array.from({ length: end - first }, (_, i) => first + i)
    }
    const recorded = (pictures: number[]) =>
      vi.waitFor(async () => {
        const { path } = await download(media, '/1')
        expect(await readNumbers(path)).toEqual(pictures.map(picture => picture % frames))
      }, PATIENCE)

    await vi.waitFor(async () => expect(await packets()).toBeGreaterThan(5 * fps), PATIENCE)
    expect(await listRecordings(media)).toMatchObject([{ state: 'waiting', ranges: [] }])
    const once = around(await ring(1, 0.5))
    await recorded(once)
    // The two seconds before the event are partly recorded already.
    const again = around(await ring(1))
    await recorded([...new Set([...once, ...again])])
    await vi.waitFor(async () => {
      const answer = await (await fetch(`${media.url}/recordings/1/events`)).json()
      const events = recordedEventList.parse(answer).events.map(({ pts, data }) => [pts, data.type])
      expect(events).toEqual(sentEvents.map(pts => [pts, 'bell']))
    }, PATIENCE)
  })
})

describe('recording routes', () => {
  const free = shared(openMedia, media => media.remove())
  const closed = shared(
    () => openMedia({ token: 'internal' }),
    media => media.remove(),
  )

  it.each([
    ['/recordings/9', 404, 'id'],
    ['/recordings/x', 400, 'syntax'],
    ['/recordings?stream=9', 404, 'id'],
    ['/recordings/1?from=yesterday', 400, 'syntax'],
    ['/recordings/1?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 400, 'syntax'],
    ['/recordings/1/clip.mp4?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z', 400, 'syntax'],
  ])('respond to %s with %i', async (path, status, code) => {
    const answer = await fetch(`${free.url}${path}`)
    expect(answer.status).toBe(status)
    expect(await answer.json()).toMatchObject({ code })
  })

  it.each(['/recordings', '/recordings/1', '/recordings/1/clip.mp4', '/recordings/1/metadata'])(
    'require the token for %s',
    async path => {
      expect((await fetch(`${closed.url}${path}`)).status).toBe(401)
    },
  )
})
