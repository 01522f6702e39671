import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { MessageFromMedia } from '@eyrie/contract/media'
import type { ViewSpec } from '@eyrie/contract/view'
import { describe, expect, it } from 'vitest'
import { createAdjustableClock } from '../../../test/fixtures/manual-clock.ts'
import {
  type ControlClient,
  createDesiredSource,
  createViewSpec,
} from '../../../test/fixtures/media/control-client.ts'
import { type ServedMedia, serveMedia } from '../../../test/fixtures/media/served-media.ts'
import { decodeGreyPictures, makeVideo } from '../../../test/fixtures/media/test-video.ts'
import { RingReader } from '../../engine/frames/ring-reader.ts'

const POLL_OPTIONS = { timeout: 60_000 }

const SIZE = { width: 320, height: 240 }

/** Opens the ring of a view once it exists. */
async function openView(control: ControlClient, key: string, source = 1): Promise<RingReader> {
  const { path } = await control.message(
    'view',
    each => each.view === key && each.source === source,
  )
  return new RingReader(path)
}

function readPicture(ring: RingReader, n: number) {
  const pixels = Buffer.alloc(ring.shape.payloadSize)
  const stamp = ring.read(n, pixels)
  if (stamp === 'overwritten') throw new Error(`frame ${n} was overwritten`)
  return { ...stamp, pixels }
}

const listRings = ({ environment }: ServedMedia) =>
  readdirSync(environment.ring).filter(name => name.endsWith('.ring'))

const isFrame = (message: MessageFromMedia) => message.type === 'frame'

describe('views with pacing all', () => {
  it('contain every frame of a file exactly once and in order', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'clip.mp4')
    makeVideo(path, { ...SIZE, frames: 40, bFrames: 2 })
    const expected = await decodeGreyPictures(path, SIZE)

    const control = await media.connectControl()
    const views = { grey: createViewSpec({ format: 'GRAY8' }) }
    await control.apply(
      createDesiredSource({ id: 1, type: 'file', url: path, pacing: 'all', views }),
    )
    const ring = await openView(control, 'grey')
    for (let n = 1; n <= 40; n++) {
      control.send({ type: 'grant', source: 1, view: 'grey', n })
      await control.message('frame', frame => frame.n === n)
      const { pixels, ...stamp } = readPicture(ring, n)
      expect(stamp).toMatchObject({ n, pts: (n - 1) * 3000, discontinuity: n === 1 })
      expect(pixels.equals(expected[n - 1]!)).toBe(true)
    }
    ring.close()
    await control.waitForStatus(1, ({ state }) => state === 'ended')
    expect(control.messages.filter(isFrame).map(({ n }) => n)).toEqual(
      Array.from({ length: 40 }, (_, i) => i + 1),
    )
  })

  it('omit frames with equal pts, which result from rounding in a container', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'clip.mkv')
    // Matroska stores milliseconds: 0, 1, 1, 2, 2 and so on.
    const pictures =
      'videotestsrc num-buffers=40 ! video/x-raw,width=320,height=240,framerate=2000/1'
    const clip = `${pictures} ! jpegenc ! matroskamux ! filesink location=${path}`
    execFileSync('gst-launch-1.0', ['-q', ...clip.split(' ')])
    const control = await media.connectControl()
    const views = { grey: createViewSpec({ format: 'GRAY8' }) }
    await control.apply(
      createDesiredSource({ id: 1, type: 'file', url: path, decoder: 'gst', pacing: 'all', views }),
    )
    control.send({ type: 'grant', source: 1, view: 'grey', n: 40 })
    await control.waitForStatus(1, ({ state }) => state === 'ended')
    const ring = await openView(control, 'grey')
    const pts = Array.from({ length: ring.newest() }, (_, i) => readPicture(ring, i + 1).pts)
    ring.close()
    expect(pts).toEqual(Array.from({ length: 21 }, (_, i) => i * 90))
  })

  it('advance only as far as the slowest of several readers', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'clip.mp4')
    makeVideo(path)
    const control = await media.connectControl()
    const views = {
      fast: createViewSpec({ format: 'GRAY8' }),
      slow: createViewSpec({ format: 'GRAY8' }),
    }
    await control.apply(
      createDesiredSource({ id: 1, type: 'file', url: path, pacing: 'all', views }),
    )
    control.send({ type: 'grant', source: 1, view: 'fast', n: 30 })
    control.send({ type: 'grant', source: 1, view: 'slow', n: 3 })
    await control.message('frame', ({ n }) => n === 3)
    control.send({ type: 'grant', source: 1, view: 'slow', n: 5 })
    await control.message('frame', ({ n }) => n === 5)
    expect(await media.readMetric('eyrie_media_frames_total', '{source="1"}')).toBe(5)
  })

  it('play a file when the first reader connects, and again for later readers', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'clip.mp4')
    makeVideo(path)
    const control = await media.connectControl()
    const source = createDesiredSource({ id: 1, type: 'file', url: path, pacing: 'all' })
    const withReader = { ...source, views: { grey: createViewSpec({ format: 'GRAY8' }) } }
    await control.apply(source)
    expect(await media.readMetric('eyrie_media_packets_total', '{source="1"}')).toBe(0)

    await control.apply(withReader)
    control.send({ type: 'grant', source: 1, view: 'grey', n: 2 })
    const { pts } = await control.message('frame', ({ n }) => n === 2)
    expect(pts).toBe(3000)

    await control.apply(source)
    const replayed = control.waitForNextMessage('frame')
    await control.apply(withReader)
    control.send({ type: 'grant', source: 1, view: 'grey', n: 1000 })
    expect((await replayed).discontinuity).toBe(true)
    await control.waitForStatus(1, ({ state }) => state === 'ended')
  })
})

it('accepts a grant before the view exists', async () => {
  const media = await serveMedia()
  const path = join(media.folder, 'clip.mp4')
  makeVideo(path)
  const control = await media.connectControl()
  const views = { grey: createViewSpec({ format: 'GRAY8' }) }
  const applied = control.apply(
    createDesiredSource({ id: 1, type: 'file', url: path, pacing: 'all', views }),
  )
  control.send({ type: 'grant', source: 1, view: 'grey', n: 30 })
  await applied
  await control.waitForStatus(1, ({ state }) => state === 'ended')
  expect(await media.readMetric('eyrie_media_frames_total', '{source="1"}')).toBe(30)
})

describe('views of a source', () => {
  it('share one ring if their output is equal', async () => {
    const media = await serveMedia()
    const control = await media.connectControl()
    const views = {
      following: createViewSpec({ format: 'RGBP', width: 416, multiple_of: 32 }),
      exact: createViewSpec({ format: 'RGBP', width: 416, height: 256 }),
      grey: createViewSpec({ format: 'GRAY8', width: 416, height: 256 }),
    }
    await control.apply(createDesiredSource({ id: 1, type: 'inf', url: 'test://ball', views }))
    const rings = await Promise.all(Object.keys(views).map(key => openView(control, key)))
    const { path } = await control.message('view', ({ view }) => view === 'following')
    expect(await control.message('view', each => each.view === 'exact')).toMatchObject({ path })
    expect(listRings(media)).toHaveLength(2)
    expect(await media.readMetric('eyrie_media_views', '{source="1"}')).toBe(2)
    for (const ring of rings) ring.close()
  })

  it('contain the scaled picture with padding around it', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'wide.mp4')
    makeVideo(path, { width: 320, height: 180, pattern: 'snow' })
    const control = await media.connectControl()
    const views = { square: createViewSpec({ format: 'RGBP', width: 160, height: 160, fill: 114 }) }
    await control.apply(
      createDesiredSource({ id: 1, type: 'file', url: path, pacing: 'all', views }),
    )
    const ring = await openView(control, 'square')
    expect(ring.shape).toMatchObject({
      width: 160,
      height: 160,
      format: 'RGBP',
      payloadSize: 3 * 160 * 160,
      sourceWidth: 320,
      sourceHeight: 180,
      content: { x: 0, y: 35, width: 160, height: 90 },
    })
    control.send({ type: 'grant', source: 1, view: 'square', n: 1 })
    await control.message('frame')
    const { pixels } = readPicture(ring, 1)
    const rows = Array.from({ length: 160 }, (_, y) => pixels.subarray(y * 160, (y + 1) * 160))
    const padded = rows.map(row => row.every(value => value === 114))
    expect([padded.indexOf(false), padded.lastIndexOf(false)]).toEqual([35, 124])
    ring.close()
  })

  it('in JPEG have the frame numbers of the other views', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'wide.mp4')
    makeVideo(path, { width: 320, height: 180, pattern: 'snow' })
    const control = await media.connectControl()
    const views = {
      jpeg: createViewSpec({ format: 'JPEG', width: 160, quality: 50 }),
      better: createViewSpec({ format: 'JPEG', width: 160, quality: 95 }),
      grey: createViewSpec({ format: 'GRAY8' }),
    }
    await control.apply(
      createDesiredSource({ id: 1, type: 'file', url: path, pacing: 'all', views }),
    )
    for (const key of Object.keys(views)) {
      control.send({ type: 'grant', source: 1, view: key, n: 2 })
    }
    const rings = await Promise.all(Object.keys(views).map(key => openView(control, key)))
    for (const key of Object.keys(views)) {
      await control.message('frame', ({ n, view }) => n === 2 && view === key)
    }
    const [jpeg, better] = rings.map(ring => ring.copy(2))
    if (!(jpeg instanceof Uint8Array && better instanceof Uint8Array)) {
      throw new Error('overwritten')
    }
    expect(rings[0]!.shape).toMatchObject({ format: 'JPEG', width: 160, height: 90 })
    expect([...jpeg.subarray(0, 2), ...jpeg.subarray(-2)]).toEqual([0xff, 0xd8, 0xff, 0xd9])
    expect(better.length).toBeGreaterThan(jpeg.length)
    expect(rings.map(ring => (ring.readStamp(2) as { pts: number }).pts)).toEqual([
      3000, 3000, 3000,
    ])
    for (const ring of rings) ring.close()
  })

  it('have square pixels', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'anamorphic.mp4')
    makeVideo(path, { width: 360, height: 288, pixelAspect: '16/11' })
    const control = await media.connectControl()
    const views = { fitted: createViewSpec({ format: 'RGB', width: 262 }) }
    await control.apply(createDesiredSource({ id: 1, type: 'file', url: path, views }))
    const ring = await openView(control, 'fitted')
    expect(ring.shape).toMatchObject({ width: 262, height: 144 })
    expect(await control.waitForStatus(1, ({ width }) => width !== undefined)).toMatchObject({
      width: 524,
      height: 288,
    })
    ring.close()
  })

  it('are added and removed without losing frames of other views, and decoding stops with the last view', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'clip.mp4')
    makeVideo(path, { frames: 90 })
    const control = await media.connectControl()
    const source = createDesiredSource({ id: 1, type: 'inf', url: path, pacing: 'all' })
    const permanent = createViewSpec({ format: 'GRAY8' })
    const other = createViewSpec({ format: 'RGB', width: 64 })
    const grant = (key: string, n: number) =>
      control.send({ type: 'grant', source: 1, view: key, n })

    await control.apply({ ...source, views: { permanent } })
    const ring = await openView(control, 'permanent')
    for (let n = 10; n <= 50; n += 10) {
      const views: Record<string, ViewSpec> = n % 20 === 0 ? { permanent, other } : { permanent }
      await control.apply({ ...source, views })
      for (const key of Object.keys(views)) grant(key, n)
      await control.message('frame', frame => frame.view === 'permanent' && frame.n === n)
      for (let k = n - 9; k <= n; k++) {
        expect(ring.readStamp(k)).toMatchObject({ pts: (k - 1) * 3000 })
      }
    }
    ring.close()
    const { path: onlyPath } = await control.message('view', each => each.view === 'permanent')
    const announced = control.messages.filter(
      each => each.type === 'view' && each.view === 'permanent',
    )
    expect(announced.map(each => each.type === 'view' && each.path)).toEqual([onlyPath])

    await control.apply({ ...source, pacing: 'realtime' })
    await control.waitForStatus(1, ({ state }) => state === 'running')
    expect(await media.readMetric('eyrie_media_decoding', '{source="1"}')).toBe(0)
    expect(listRings(media)).toEqual([])
  })

  it('that need too much memory are rejected without affecting other views', async () => {
    const media = await serveMedia()
    const control = await media.connectControl()
    const views = {
      huge: createViewSpec({ format: 'RGB', width: 8192, height: 8192 }),
      small: createViewSpec({ format: 'GRAY8', width: 64 }),
    }
    await control.apply(createDesiredSource({ id: 1, type: 'inf', url: 'test://ball', views }))
    const failed = await control.message('view-failed')
    expect(failed).toMatchObject({ source: 1, view: 'huge' })
    await control.message('frame', frame => frame.view === 'small')
  })

  it('contain no more frames per second than the rate of the source', async () => {
    const media = await serveMedia()
    const path = join(media.folder, 'clip.mp4')
    makeVideo(path, { frames: 60 })
    const control = await media.connectControl()
    const views = { grey: createViewSpec({ format: 'GRAY8' }) }
    await control.apply(
      createDesiredSource({ id: 1, type: 'file', url: path, pacing: 'all', rate: 10, views }),
    )
    const ring = await openView(control, 'grey')
    for (let n = 1; n <= 20; n++) {
      control.send({ type: 'grant', source: 1, view: 'grey', n })
      await control.message('frame', frame => frame.n === n)
      expect(ring.readStamp(n)).toMatchObject({ pts: (n - 1) * 9000 })
    }
    await control.waitForStatus(1, ({ state }) => state === 'ended')
    ring.close()
  })

  it('remain for ten seconds after the engine disconnects', async () => {
    const clock = createAdjustableClock()
    const media = await serveMedia({ clock })
    const control = await media.connectControl()
    const views = { grey: createViewSpec({ format: 'GRAY8', width: 64 }) }
    const source = createDesiredSource({ id: 1, type: 'inf', url: 'test://ball', views })
    await control.apply(source)
    const { path } = await control.message('view')
    await control.waitForStatus(1, ({ state }) => state === 'running')
    control.close()
    await control.closed

    const reconnected = await media.connectControl()
    await reconnected.apply(source)
    expect(await reconnected.message('view')).toMatchObject({ path })
    reconnected.close()
    await reconnected.closed
    await expect.poll(async () => (await health(media.url)).engine, POLL_OPTIONS).toBe(false)
    clock.advance(10_000)
    await expect.poll(() => stat(path).catch(({ code }) => code), POLL_OPTIONS).toBe('ENOENT')
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
