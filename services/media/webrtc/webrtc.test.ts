import { join } from 'node:path'
import { type MediaHealth, mediaHealth } from '@eyrie/contract'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openBrowser } from '../../../test/fixtures/browser.ts'
import { wantSource } from '../../../test/fixtures/control.ts'
import { numbered, writeNumberedVideo } from '../../../test/fixtures/numbered-video.ts'
import { childOf } from '../../../test/fixtures/processes.ts'
import { startRtspCamera } from '../../../test/fixtures/rtsp-camera.ts'
import { type ServedMedia, serveMedia } from '../../../test/fixtures/serve-media.ts'
import { webrtcWorker, whyNoWorker } from '../../../test/fixtures/webrtc-worker.ts'
import { type WhepPage, watchByWhep } from '../../../test/fixtures/whep-page.ts'

const FRAMES = 500
const TICKS = 90_000 / numbered.fps
const PATIENCE = { timeout: 30_000, interval: 200 }
const LONG = 120_000

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

/** Media with one source: a video whose every picture tells its number, without B-frames, for ever. */
async function serveNumbers(keyframeInterval?: number) {
  const media = await serveMedia()
  const path = join(media.folder, 'numbers.mp4')
  await writeNumberedVideo(path, FRAMES, { bFrames: 0, keyframeInterval })
  const control = await media.control()
  await control.apply(wantSource({ id: 1, type: 'inf', url: path }))
  await control.status(1, ({ state }) => state === 'running')
  return { media, control }
}

async function watch(media: ServedMedia, protocol?: 'udp' | 'tcp', query = ''): Promise<WhepPage> {
  const viewer = await watchByWhep(browser, media.url, `/streams/1/whep${query}`, { protocol })
  onTestFinished(() => viewer.page.close())
  return viewer
}

async function health(media: ServedMedia): Promise<MediaHealth> {
  return mediaHealth.parse(await (await fetch(`${media.url}/health`)).json())
}

const webrtc = async (media: ServedMedia) => (await health(media)).webrtc

async function feeds(media: ServedMedia): Promise<number> {
  const [stream] = (await (await fetch(`${media.url}/streams`)).json()) as { viewers: number }[]
  return stream!.viewers
}

const showsFrames = (viewer: WhepPage, count: number) =>
  expect.poll(async () => (await viewer.shown()).length, PATIENCE).toBeGreaterThan(count)

/** Waits until it shows frames other than those before. */
async function showsMore(viewer: WhepPage, count: number) {
  await showsFrames(viewer, (await viewer.shown()).length + count)
}

/** Every frame shows the picture that its RTP timestamp stands for. */
async function isExact(viewer: WhepPage) {
  const shown = await viewer.shown()
  const expected = shown.map(({ rtp }) => ({ rtp, number: (rtp / TICKS) % FRAMES }))
  expect(shown.map(({ rtp, number }) => ({ rtp, number }))).toEqual(expected)
}

describe.runIf(webrtcWorker)(`a live view by WebRTC${whyNoWorker}`, () => {
  test(
    'shows every frame with the pts that it has in the stream, some hundred frames on',
    async () => {
      const { media } = await serveNumbers()
      const viewer = await watch(media)
      await showsFrames(viewer, 300)
      await isExact(viewer)
      const [first] = await viewer.shown()
      expect(Math.abs(Number(viewer.answer['x-pts']) - first!.rtp)).toBeLessThan(90_000 * 20)
      expect(Number(viewer.answer['x-epoch'])).toBe((await health(media)).epoch)
    },
    LONG,
  )

  test(
    'serves several viewers from one feed, which ends with the last of them',
    async () => {
      const { media } = await serveNumbers()
      const viewers = await Promise.all([watch(media), watch(media), watch(media)])
      for (const viewer of viewers) await showsFrames(viewer, 20)
      expect([(await webrtc(media)).viewers, await feeds(media)]).toEqual([3, 1])

      for (const { answer } of viewers) {
        const deleted = await fetch(`${media.url}${answer.location}`, { method: 'DELETE' })
        expect(deleted.status).toBe(200)
      }
      expect([(await webrtc(media)).viewers, await feeds(media)]).toEqual([0, 0])
      expect((await fetch(`${media.url}${viewers[0]!.answer.location}`, { method: 'DELETE' })).status).toBe(
        404,
      )
    },
    LONG,
  )

  test(
    'shows who comes later the same frames, from the next keyframe on',
    async () => {
      const { media } = await serveNumbers()
      await showsFrames(await watch(media), 10)
      const later = await watch(media)
      await showsFrames(later, 20)
      await isExact(later)
    },
    LONG,
  )

  test(
    'begins at once where keyframes are rare, too',
    async () => {
      const { media } = await serveNumbers(FRAMES)
      await showsFrames(await watch(media), 75)
      // Of a group that is still under way when the browser has connected.
      await vi.waitUntil(async () => {
        const packets = await media.metric('eyrie_media_packets_total', '{source="1"}')
        return packets % FRAMES > 75 && packets % FRAMES < FRAMES / 2
      }, PATIENCE)
      const later = await watch(media)
      await showsFrames(later, 20)
      const [first] = await later.shown()
      const keyframeNumber = (pts: number) => Math.floor(pts / TICKS / FRAMES)
      expect(keyframeNumber(first!.rtp)).toBe(keyframeNumber(Number(later.answer['x-pts'])))
      expect(await feeds(media)).toBe(2)
      await isExact(later)
    },
    LONG,
  )

  test(
    'reaches by TCP who cannot be reached by UDP',
    async () => {
      const { media } = await serveNumbers()
      const viewer = await watch(media, 'tcp')
      await showsFrames(viewer, 20)
      await isExact(viewer)
    },
    LONG,
  )

  test(
    'goes on after a restart of ICE',
    async () => {
      const { media } = await serveNumbers()
      const viewer = await watch(media)
      await showsFrames(viewer, 10)
      expect(await viewer.restartIce()).not.toBe(viewer.answer.etag)
      await showsMore(viewer, 50)
      expect(await viewer.connectionState()).toBe('connected')
      await isExact(viewer)
    },
    LONG,
  )

  test(
    'comes back after the death of the worker, of which media itself takes no harm',
    async () => {
      const { media } = await serveNumbers()
      const viewer = await watch(media)
      await showsFrames(viewer, 10)
      process.kill(childOf(process.pid, 'mediasoup-worker'), 'SIGKILL')
      await expect
        .poll(async () => [(await webrtc(media)).viewers, await feeds(media)], PATIENCE)
        .toEqual([0, 0])
      await expect.poll(async () => (await webrtc(media)).state, PATIENCE).toBe('running')

      const again = await watch(media)
      await showsFrames(again, 20)
      await isExact(again)
    },
    LONG,
  )

  test(
    'goes on where the camera was away for a while',
    async () => {
      const media = await serveMedia()
      const camera = await startRtspCamera()
      const control = await media.control()
      await control.apply(wantSource({ id: 1, type: 'video', url: camera.url }))
      await control.status(1, ({ state }) => state === 'running')
      const viewer = await watch(media)
      await showsFrames(viewer, 10)
      await camera.kill()
      await control.next('source', ({ status }) => status.state === 'reconnecting')
      await startRtspCamera({ port: camera.port })
      await control.next('source', ({ status }) => status.state === 'running')
      await showsMore(viewer, 20)
      const pts = (await viewer.shown()).map(({ rtp }) => rtp)
      expect(pts).toEqual(pts.toSorted((a, b) => a - b))
    },
    LONG,
  )

  test(
    'is transcoded once the stream has shown B-frames, or refused to who would rather have it as it is',
    async () => {
      const media = await serveMedia()
      const path = join(media.folder, 'reordered.mp4')
      await writeNumberedVideo(path, FRAMES, { bFrames: 2 })
      const control = await media.control()
      await control.apply(wantSource({ id: 1, type: 'inf', url: path }))
      await control.status(1, ({ state }) => state === 'running')
      const attempt = () => watch(media, 'udp', '?transcode=false').then(() => 'accepted', String)
      await expect.poll(attempt, PATIENCE).toMatch(/406.*B-frames.*fragmented MP4/)
      expect(await feeds(media)).toBe(0)

      const viewer = await watch(media)
      await showsFrames(viewer, 20)
      await isExact(viewer)
    },
    LONG,
  )
})
