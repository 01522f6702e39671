import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { MessageFromMedia } from '@eyrie/contract/media'
import type { ViewSpec } from '@eyrie/contract/view'
import { describe, expect, test } from 'vitest'
import { createTurnableClock } from '../../../test/fixtures/clock.ts'
import { type ControlClient, view, wantSource } from '../../../test/fixtures/control.ts'
import { serveMedia } from '../../../test/fixtures/serve-media.ts'
import { decodeGrey, makeVideo } from '../../../test/fixtures/video.ts'
import { RingReader } from '../../engine/frames/ring-reader.ts'

const PATIENCE = { timeout: 10_000 }

const SIZE = { width: 320, height: 240 }

/** Opens the ring of a view as soon as there is one. */
async function openView(control: ControlClient, key: string, source = 1): Promise<RingReader> {
  const { path } = await control.message('view', each => each.view === key && each.source === source)
  return new RingReader(path)
}

function readPicture(ring: RingReader, n: number) {
  const pixels = Buffer.alloc(ring.shape.payloadSize)
  const stamp = ring.read(n, pixels)
  if (stamp === 'overtaken') throw new Error(`frame ${n} has been overtaken`)
  return { ...stamp, pixels }
}

const isFrame = (message: MessageFromMedia) => message.type === 'frame'

describe('with pacing all', () => {
  test('every frame of a file is seen once and in order, from the first to the last', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'clip.mp4')
    makeVideo(path, { ...SIZE, frames: 40, bFrames: 2 })
    const expected = await decodeGrey(path, SIZE)

    const control = await media.control()
    const views = { grey: view({ format: 'GRAY8' }) }
    await control.apply(wantSource({ id: 1, type: 'file', url: path, pacing: 'all', views }))
    const ring = await openView(control, 'grey')
    for (let n = 1; n <= 40; n++) {
      control.send({ type: 'grant', source: 1, view: 'grey', n })
      await control.message('frame', frame => frame.n === n)
      const { pixels, ...stamp } = readPicture(ring, n)
      expect(stamp).toMatchObject({ n, pts: (n - 1) * 3000, discontinuity: n === 1 })
      expect(pixels.equals(expected[n - 1]!)).toBe(true)
    }
    ring.close()
    await control.status(1, ({ state }) => state === 'ended')
    expect(control.messages.filter(isFrame).map(({ n }) => n)).toEqual(
      Array.from({ length: 40 }, (_, i) => i + 1),
    )
  })

  test('no two frames have the same pts, also where their container cannot tell them apart', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'clip.mkv')
    // Matroska keeps milliseconds: 0, 1, 1, 2, 2 and so on.
    const pictures = 'videotestsrc num-buffers=40 ! video/x-raw,width=320,height=240,framerate=2000/1'
    const clip = `${pictures} ! jpegenc ! matroskamux ! filesink location=${path}`
    execFileSync('gst-launch-1.0', ['-q', ...clip.split(' ')])
    const control = await media.control()
    const views = { grey: view({ format: 'GRAY8' }) }
    await control.apply(wantSource({ id: 1, type: 'file', url: path, decoder: 'gst', pacing: 'all', views }))
    control.send({ type: 'grant', source: 1, view: 'grey', n: 40 })
    await control.status(1, ({ state }) => state === 'ended')
    const ring = await openView(control, 'grey')
    const pts = Array.from({ length: ring.newest() }, (_, i) => readPicture(ring, i + 1).pts)
    ring.close()
    expect(pts).toEqual(Array.from({ length: 21 }, (_, i) => i * 90))
  })

  test('a shared view goes only as far as its slowest reader', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'clip.mp4')
    makeVideo(path)
    const control = await media.control()
    const views = { quick: view({ format: 'GRAY8' }), slow: view({ format: 'GRAY8' }) }
    await control.apply(wantSource({ id: 1, type: 'file', url: path, pacing: 'all', views }))
    control.send({ type: 'grant', source: 1, view: 'quick', n: 30 })
    control.send({ type: 'grant', source: 1, view: 'slow', n: 3 })
    await control.message('frame', ({ n }) => n === 3)
    control.send({ type: 'grant', source: 1, view: 'slow', n: 5 })
    await control.message('frame', ({ n }) => n === 5)
    expect(await media.metric('eyrie_media_frames_total', '{source="1"}')).toBe(5)
  })

  test('a file is not played before somebody reads it, and anew for who comes after', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'clip.mp4')
    makeVideo(path)
    const control = await media.control()
    const source = wantSource({ id: 1, type: 'file', url: path, pacing: 'all' })
    const reading = { ...source, views: { grey: view({ format: 'GRAY8' }) } }
    await control.apply(source)
    expect(await media.metric('eyrie_media_packets_total', '{source="1"}')).toBe(0)

    await control.apply(reading)
    control.send({ type: 'grant', source: 1, view: 'grey', n: 2 })
    const { pts } = await control.message('frame', ({ n }) => n === 2)
    expect(pts).toBe(3000)

    await control.apply(source)
    const anew = control.next('frame')
    await control.apply(reading)
    control.send({ type: 'grant', source: 1, view: 'grey', n: 1000 })
    expect((await anew).discontinuity).toBe(true)
    await control.status(1, ({ state }) => state === 'ended')
  })
})

test('a grant may come before its view is there', async () => {
  const media = await serveMedia()
  const path = join(media.folder, 'clip.mp4')
  makeVideo(path)
  const control = await media.control()
  const views = { grey: view({ format: 'GRAY8' }) }
  const applied = control.apply(wantSource({ id: 1, type: 'file', url: path, pacing: 'all', views }))
  control.send({ type: 'grant', source: 1, view: 'grey', n: 30 })
  await applied
  await control.status(1, ({ state }) => state === 'ended')
  expect(await media.metric('eyrie_media_frames_total', '{source="1"}')).toBe(30)
})

describe('views of a source', () => {
  test('that come out equal share one ring, and the others have their own', async () => {
    const media = await serveMedia()
    const control = await media.control()
    const views = {
      following: view({ format: 'RGBP', width: 416, multiple_of: 32 }),
      exact: view({ format: 'RGBP', width: 416, height: 256 }),
      grey: view({ format: 'GRAY8', width: 416, height: 256 }),
    }
    await control.apply(wantSource({ id: 1, type: 'inf', url: 'test://ball', views }))
    const rings = await Promise.all(Object.keys(views).map(key => openView(control, key)))
    const { path } = await control.message('view', ({ view }) => view === 'following')
    expect(await control.message('view', each => each.view === 'exact')).toMatchObject({ path })
    expect(readdirSync(media.environment.ring)).toHaveLength(2)
    expect(await media.metric('eyrie_media_views', '{source="1"}')).toBe(2)
    for (const ring of rings) ring.close()
  })

  test('hold the scaled picture with padding around it', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'wide.mp4')
    makeVideo(path, { width: 320, height: 180, pattern: 'snow' })
    const control = await media.control()
    const views = { square: view({ format: 'RGBP', width: 160, height: 160, fill: 114 }) }
    await control.apply(wantSource({ id: 1, type: 'file', url: path, pacing: 'all', views }))
    const ring = await openView(control, 'square')
    expect(ring.shape).toMatchObject({
      ...{ width: 160, height: 160, format: 'RGBP', payloadSize: 3 * 160 * 160 },
      ...{ sourceWidth: 320, sourceHeight: 180, content: { x: 0, y: 35, width: 160, height: 90 } },
    })
    control.send({ type: 'grant', source: 1, view: 'square', n: 1 })
    await control.message('frame')
    const { pixels } = readPicture(ring, 1)
    const rows = Array.from({ length: 160 }, (_, y) => pixels.subarray(y * 160, (y + 1) * 160))
    const padded = rows.map(row => row.every(value => value === 114))
    expect([padded.indexOf(false), padded.lastIndexOf(false)]).toEqual([35, 124])
    ring.close()
  })

  test('are JPEG where that is asked for, with the numbers of the other views', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'wide.mp4')
    makeVideo(path, { width: 320, height: 180, pattern: 'snow' })
    const control = await media.control()
    const views = {
      jpeg: view({ format: 'JPEG', width: 160, quality: 50 }),
      better: view({ format: 'JPEG', width: 160, quality: 95 }),
      grey: view({ format: 'GRAY8' }),
    }
    await control.apply(wantSource({ id: 1, type: 'file', url: path, pacing: 'all', views }))
    for (const key of Object.keys(views)) control.send({ type: 'grant', source: 1, view: key, n: 2 })
    const rings = await Promise.all(Object.keys(views).map(key => openView(control, key)))
    for (const key of Object.keys(views))
      await control.message('frame', ({ n, view }) => n === 2 && view === key)
    const [jpeg, better] = rings.map(ring => ring.copy(2))
    if (!(jpeg instanceof Uint8Array && better instanceof Uint8Array)) throw new Error('overtaken')
    expect(rings[0]!.shape).toMatchObject({ format: 'JPEG', width: 160, height: 90 })
    expect([...jpeg.subarray(0, 2), ...jpeg.subarray(-2)]).toEqual([0xff, 0xd8, 0xff, 0xd9])
    expect(better.length).toBeGreaterThan(jpeg.length)
    expect(rings.map(ring => (ring.stamp(2) as { pts: number }).pts)).toEqual([3000, 3000, 3000])
    for (const ring of rings) ring.close()
  })

  test('take the shape of pixels into account', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'anamorphic.mp4')
    makeVideo(path, { width: 360, height: 288, pixelAspect: '16/11' })
    const control = await media.control()
    const views = { fitted: view({ format: 'RGB', width: 262 }) }
    await control.apply(wantSource({ id: 1, type: 'file', url: path, views }))
    const ring = await openView(control, 'fitted')
    expect(ring.shape).toMatchObject({ width: 262, height: 144 })
    expect(await control.status(1, ({ width }) => width !== undefined)).toMatchObject({
      width: 524,
      height: 288,
    })
    ring.close()
  })

  test('come and go without costing the others a frame, and nothing is decoded without any', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'clip.mp4')
    makeVideo(path, { frames: 90 })
    const control = await media.control()
    const source = wantSource({ id: 1, type: 'inf', url: path, pacing: 'all' })
    const [stays, other] = [view({ format: 'GRAY8' }), view({ format: 'RGB', width: 64 })]
    const grant = (key: string, n: number) => control.send({ type: 'grant', source: 1, view: key, n })

    await control.apply({ ...source, views: { stays } })
    const ring = await openView(control, 'stays')
    for (let n = 10; n <= 50; n += 10) {
      const now: Record<string, ViewSpec> = n % 20 === 0 ? { stays, other } : { stays }
      await control.apply({ ...source, views: now })
      for (const key of Object.keys(now)) grant(key, n)
      await control.message('frame', frame => frame.view === 'stays' && frame.n === n)
      for (let k = n - 9; k <= n; k++) expect(ring.stamp(k)).toMatchObject({ pts: (k - 1) * 3000 })
    }
    ring.close()
    const { path: only } = await control.message('view', each => each.view === 'stays')
    const seen = control.messages.filter(each => each.type === 'view' && each.view === 'stays')
    expect(seen.map(each => each.type === 'view' && each.path)).toEqual([only])

    await control.apply({ ...source, pacing: 'realtime' })
    await control.status(1, ({ state }) => state === 'running')
    expect(await media.metric('eyrie_media_decoding', '{source="1"}')).toBe(0)
    expect(readdirSync(media.environment.ring)).toEqual([])
  })

  test('are refused one by one when they need too much memory', async () => {
    const media = await serveMedia()
    const control = await media.control()
    const views = {
      huge: view({ format: 'RGB', width: 8192, height: 8192 }),
      small: view({ format: 'GRAY8', width: 64 }),
    }
    await control.apply(wantSource({ id: 1, type: 'inf', url: 'test://ball', views }))
    const failed = await control.message('view-failed')
    expect(failed).toMatchObject({ source: 1, view: 'huge' })
    await control.message('frame', frame => frame.view === 'small')
  })

  test('get no more frames a second than the source is to have', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'clip.mp4')
    makeVideo(path, { frames: 60 })
    const control = await media.control()
    const views = { grey: view({ format: 'GRAY8' }) }
    await control.apply(wantSource({ id: 1, type: 'file', url: path, pacing: 'all', rate: 10, views }))
    const ring = await openView(control, 'grey')
    for (let n = 1; n <= 20; n++) {
      control.send({ type: 'grant', source: 1, view: 'grey', n })
      await control.message('frame', frame => frame.n === n)
      expect(ring.stamp(n)).toMatchObject({ pts: (n - 1) * 9000 })
    }
    await control.status(1, ({ state }) => state === 'ended')
    ring.close()
  })

  test('outlive their readers by ten seconds', async () => {
    const clock = createTurnableClock()
    const media = await serveMedia({ clock })
    const control = await media.control()
    const views = { grey: view({ format: 'GRAY8', width: 64 }) }
    const source = wantSource({ id: 1, type: 'inf', url: 'test://ball', views })
    await control.apply(source)
    const { path } = await control.message('view')
    await control.status(1, ({ state }) => state === 'running')
    control.close()
    await control.closed

    const back = await media.control()
    await back.apply(source)
    expect(await back.message('view')).toMatchObject({ path })
    back.close()
    await back.closed
    await expect.poll(async () => (await health(media.url)).engine, PATIENCE).toBe(false)
    clock.advance(10_000)
    await expect.poll(() => stat(path).catch(({ code }) => code), PATIENCE).toBe('ENOENT')
    expect((await health(media.url)).sources.running).toBe(1)
  })
})

interface Health {
  engine: boolean
  sources: Record<string, number>
}

async function health(url: string): Promise<Health> {
  return (await fetch(`${url}/health`)).json() as Promise<Health>
}
