import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { SnapshotRequest } from '@eyrie/contract'
import { describe, expect, it, vi } from 'vitest'
import { createDesiredSource } from '../../../../test/fixtures/media/control-client.ts'
import {
  getNumberBox,
  numberedShape,
  writeNumberedVideo,
} from '../../../../test/fixtures/media/numbered-video.ts'
import {
  openMedia,
  type ServedMedia,
  serveMedia,
} from '../../../../test/fixtures/media/served-media.ts'
import { shared } from '../../../../test/fixtures/setup/shared.ts'

const PATIENCE = { timeout: 60_000, interval: 50 }
const FRAME_TICKS = 90_000 / numberedShape.fps

/** Media that buffers this many seconds for snapshots. */
async function serveNumbered(serve: typeof serveMedia, snapshotSeconds: number) {
  const media = await serve({ settings: { media: { snapshot_s: snapshotSeconds } } })
  const path = join(media.folder, 'numbered.mp4')
  await writeNumberedVideo(path, 250)
  const control = await media.connectControl()
  await control.apply(createDesiredSource({ id: 1, type: 'inf', url: path }))
  return media
}

const waitForFrames = (media: ServedMedia, frames: number) =>
  vi.waitFor(
    async () =>
      expect(await media.readMetric('eyrie_media_packets_total', '{source="1"}')).toBeGreaterThan(
        frames,
      ),
    PATIENCE,
  )

const get = (media: ServedMedia, query: string) =>
  fetch(`${media.url}/streams/1/snapshot.jpg?${query}`)
const post = (media: ServedMedia, body: unknown) =>
  fetch(`${media.url}/streams/1/snapshot.jpg`, { method: 'POST', body: JSON.stringify(body) })

/** Asynchronous, because media runs in the process of the test. */
const run = promisify(execFile)

/** Decodes the response to RGB pixels. */
async function readPixels(media: ServedMedia, answer: Response) {
  expect(answer.status).toBe(200)
  expect(answer.headers.get('Content-Type')).toBe('image/jpeg')
  const path = join(media.folder, 'picture.jpg')
  writeFileSync(path, Buffer.from(await answer.arrayBuffer()))
  const size = ['-v', 'error', '-show_entries', 'stream=width,height', '-of', 'csv=p=0', path]
  const [width, height] = (await run('ffprobe', size)).stdout.trim().split(',').map(Number) as [
    number,
    number,
  ]
  const pixels = ['-v', 'error', '-i', path, '-pix_fmt', 'rgb24', '-f', 'rawvideo', '-']
  const { stdout: raw } = await run('ffmpeg', pixels, { encoding: 'buffer', maxBuffer: 1 << 26 })
  const at = (x: number, y: number) => {
    const offset = (Math.floor(y * height) * width + Math.floor(x * width)) * 3
    return [...raw.subarray(offset, offset + 3)] as [number, number, number]
  }
  const number = Array.from({ length: numberedShape.bits }, (_, n) => {
    const [red] = at(
      ((n + 0.5) * numberedShape.block) / numberedShape.width,
      numberedShape.block / 2 / numberedShape.height,
    )
    return red > 128 ? 2 ** n : 0
  }).reduce((a, b) => a + b)
  return { width, height, at, number }
}

/** Shared by all tests that do not change it. */
const served = shared(
  () => serveNumbered(openMedia, 30),
  media => media.remove(),
)

describe('snapshot', { timeout: 180_000 }, () => {
  it.each(['ticket', 'access_token'])('accepts a %s in the query', async name => {
    await vi.waitFor(
      async () => expect((await get(served, `${name}=a&width=64`)).status).toBe(200),
      PATIENCE,
    )
    expect((await get(served, `${name}=a&boxes=true`)).status).toBe(400)
  })

  it('shows exactly the requested picture of the last seconds', async () => {
    await waitForFrames(served, 150)
    for (const back of [30, 61, 97]) {
      const wanted = (await served.readMetric('eyrie_media_packets_total', '{source="1"}')) - back
      const answer = await get(served, `pts=${wanted * FRAME_TICKS}`)
      expect(answer.headers.get('X-Pts')).toBe(String(wanted * FRAME_TICKS))
      expect((await readPixels(served, answer)).number).toBe(wanted % 250)
    }
  })

  it('reports the available range when its picture is no longer buffered', async () => {
    const media = await serveNumbered(serveMedia, 1)
    await waitForFrames(media, 100)
    const answer = await get(media, 'pts=0')
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({
      code: 'id',
      value: { oldest: expect.any(Number), newest: expect.any(Number) },
    })
  })

  it('has the requested width and the aspect ratio of the picture', async () => {
    await waitForFrames(served, 10)
    const { width, height } = await readPixels(served, await get(served, 'width=320'))
    expect([width, height]).toEqual([320, 180])
  })

  it.each(['width=8', 'pts=-1', 'pts=', 'boxes=1', 'blur=faces'])(
    'rejects the query %s, so that hidden people are never shown',
    async query => {
      const answer = await get(served, query)
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ code: 'syntax' })
    },
  )

  it('pixelates regions and draws boxes without changing the rest', async () => {
    const media = await serveNumbered(serveMedia, 30)
    await waitForFrames(media, 60)
    const pts = 42 * FRAME_TICKS
    const place = getNumberBox(42)
    const whole: SnapshotRequest = {
      pts,
      hidden: [{ x: 0, y: 0, w: 0.5, h: 0.1 }],
      drawing: { objects: [{ bbox: place, label: 'person', colour: 'person' }], shapes: [] },
    }
    const plain = await readPixels(media, await post(media, { pts }))
    const changed = await readPixels(media, await post(media, whole))
    expect([plain.number, changed.width, changed.height]).toEqual([
      42,
      numberedShape.width,
      numberedShape.height,
    ])
    // 42 is 101010: black and white blocks become grey ones.
    expect(changed.number).not.toBe(42)
    const colourful = ([red, green, blue]: [number, number, number]) =>
      Math.max(red, green, blue) - Math.min(red, green, blue)
    expect(colourful(changed.at(place.x, place.y + place.h / 2))).toBeGreaterThan(40)
    expect(colourful(plain.at(place.x, place.y + place.h / 2))).toBeLessThan(10)
    expect(Math.abs(changed.at(0.9, 0.9)[0] - plain.at(0.9, 0.9)[0])).toBeLessThan(6)
  })

  it.each([{ width: 4 }, { hidden: [{ x: 0 }] }, { more: 1 }, undefined])(
    'rejects the body %j',
    async body => {
      expect((await post(served, body)).status).toBe(400)
    },
  )
})
