import { join } from 'node:path'
import { mediaHealth } from '@eyrie/contract'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openBrowser } from '../../../test/fixtures/browser.ts'
import { createTurnableClock } from '../../../test/fixtures/clock.ts'
import { wantSource } from '../../../test/fixtures/control.ts'
import { threadsOf } from '../../../test/fixtures/media-threads.ts'
import { childOf } from '../../../test/fixtures/processes.ts'
import { type RtspCameraOptions, startRtspCamera } from '../../../test/fixtures/rtsp-camera.ts'
import { type ServedMedia, serveMedia } from '../../../test/fixtures/serve-media.ts'
import { makeVideo } from '../../../test/fixtures/video.ts'
import { webrtcWorker, whyNoWorker } from '../../../test/fixtures/webrtc-worker.ts'
import { type WhepPage, watchByWhep } from '../../../test/fixtures/whep-page.ts'
import type { Clock } from '../runtime/clock.ts'

const PATIENCE = { timeout: 40_000, interval: 200 }
const LONG = 180_000
const SECOND_OF_SAMPLES = 48_000

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser('--autoplay-policy=no-user-gesture-required')
})
afterAll(() => browser.close())

async function serveCamera(options: RtspCameraOptions, clock?: Clock) {
  const camera = await startRtspCamera(options)
  const media = await serveMedia({ clock })
  const control = await media.control()
  await control.apply(wantSource({ id: 1, type: 'video', url: camera.url }))
  await control.status(1, ({ state }) => state === 'running')
  return { camera, media, control }
}

async function watch(media: ServedMedia, sounding = true): Promise<WhepPage> {
  const viewer = await watchByWhep(browser, media.url, '/streams/1/whep', { sounding })
  onTestFinished(() => viewer.page.close())
  return viewer
}

/** Waits until more is heard than what fills the gaps between. */
async function hears(viewer: WhepPage, seconds = 1) {
  const real = async () => {
    const { samples, concealed } = await viewer.heard()
    return samples - concealed
  }
  const before = await real()
  const { energy } = await viewer.heard()
  await expect.poll(real, PATIENCE).toBeGreaterThan(before + seconds * SECOND_OF_SAMPLES)
  await expect.poll(async () => (await viewer.heard()).energy, PATIENCE).toBeGreaterThan(energy)
}

async function showsMore(viewer: WhepPage, count: number) {
  const before = (await viewer.shown()).length
  await expect.poll(async () => (await viewer.shown()).length, PATIENCE).toBeGreaterThan(before + count)
}

/** Threads that make, or hand on, sound for WebRTC. */
const encoding = () => threadsOf('aux-sound-opus')

const silent = () => vi.waitUntil(async () => (await encoding()).length === 0, PATIENCE)

const viewers = async (media: ServedMedia) =>
  mediaHealth.parse(await (await fetch(`${media.url}/health`)).json()).webrtc.viewers

async function soundSent(media: ServedMedia): Promise<string | undefined> {
  const [stream] = (await (await fetch(`${media.url}/streams`)).json()) as { sound?: string }[]
  return stream!.sound
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

describe.runIf(webrtcWorker)(`sound by WebRTC${whyNoWorker}`, () => {
  test.each(['aac', 'pcma', 'opus'] as const)(
    'of a camera that sends %s is heard',
    async audio => {
      const { media } = await serveCamera({ audio })
      const viewer = await watch(media)
      expect(viewer.answer.sdp).toMatch(/m=audio 9 .*\r\n(a=.*\r\n|c=.*\r\n)*a=sendonly/)
      await hears(viewer, 3)
      await showsMore(viewer, 20)
    },
    LONG,
  )

  test(
    'is reported to be at the same time as the picture that was taken with it, however late it comes',
    async () => {
      // Such a camera sends an eighth of a second at a time.
      const { media } = await serveCamera({ audio: 'pcma' })
      const viewer = await watch(media)
      const told = async () => {
        const { lateMs, reportedLateMs } = await viewer.heard()
        return lateMs === null || reportedLateMs === null ? undefined : lateMs - reportedLateMs
      }
      await expect.poll(told, PATIENCE).toBeDefined()
      const errors: number[] = []
      await vi.waitFor(async () => {
        errors.push((await told()) ?? Number.NaN)
        expect(errors.filter(Number.isFinite).length).toBeGreaterThan(40)
      }, PATIENCE)
      // Where lateness were not told, it would be an eighth of a second.
      expect(Math.abs(median(errors.filter(Number.isFinite)))).toBeLessThan(40)
    },
    LONG,
  )

  test(
    'is heard with its picture, to within 60 ms, once the browser has brought them together',
    async () => {
      const { media } = await serveCamera({ audio: 'pcma' })
      const viewer = await watch(media)
      const late: number[] = []
      const settled = async () => {
        const { lateMs } = await viewer.heard()
        if (lateMs !== null) late.push(lateMs)
        return late.length < 30 ? Number.POSITIVE_INFINITY : Math.abs(median(late.slice(-30)))
      }
      await expect.poll(settled, { timeout: 100_000, interval: 100 }).toBeLessThan(60)
    },
    LONG,
  )

  test(
    'is made for those who hear it, once for all of them, and for nobody else',
    async () => {
      const { media } = await serveCamera({ audio: 'aac' })
      await showsMore(await watch(media, false), 20)
      expect(await encoding()).toEqual([])

      const [first, second] = [await watch(media), await watch(media)]
      await Promise.all([hears(first), hears(second)])
      const threads = await encoding()
      expect(threads.length).toBe(1)
      await fetch(`${media.url}${first!.answer.location}`, { method: 'DELETE' })
      await hears(second!)
      expect(await encoding()).toEqual(threads)
      await fetch(`${media.url}${second!.answer.location}`, { method: 'DELETE' })
      await silent()
      expect(await viewers(media)).toBe(1)
    },
    LONG,
  )

  test(
    'is declined where there is none, and the picture comes all the same',
    async () => {
      const media = await serveMedia()
      const path = join(media.folder, 'clip.mp4')
      makeVideo(path, { frames: 100 })
      const control = await media.control()
      await control.apply(wantSource({ id: 1, type: 'inf', url: path }))
      await control.status(1, ({ state }) => state === 'running')
      const viewer = await watch(media)
      expect(viewer.answer.sdp).toMatch(/m=audio 0 .*\r\na=mid:0\r\na=inactive/)
      await showsMore(viewer, 20)
      expect(await encoding()).toEqual([])
    },
    LONG,
  )

  test(
    'goes on with a camera that comes back, is missing as long as the camera has none, and can be had once it has',
    async () => {
      const { camera, media, control } = await serveCamera({ audio: 'aac' })
      const viewer = await watch(media)
      await hears(viewer)

      const restart = async (present: typeof camera, audio?: 'pcma') => {
        await present.kill()
        await control.next('source', ({ status }) => status.state === 'reconnecting')
        const next = await startRtspCamera({ port: camera.port, audio })
        await control.next('source', ({ status }) => status.state === 'running')
        return next
      }
      const other = await restart(camera, 'pcma')
      await hears(viewer)
      const mute = await restart(other)
      await showsMore(viewer, 50)
      await vi.waitUntil(async () => (await soundSent(media)) === undefined, PATIENCE)
      const late = await watch(media)
      expect(late.answer.sdp).toMatch(/m=audio 0/)

      await restart(mute, 'pcma')
      await hears(viewer)
      await vi.waitUntil(async () => (await soundSent(media)) === 'pcm_alaw', PATIENCE)
      await hears(await watch(media))
    },
    LONG,
  )

  test(
    'ends with the worker, and begins with another',
    async () => {
      const { media } = await serveCamera({ audio: 'aac' })
      await hears(await watch(media))
      process.kill(childOf(process.pid, 'mediasoup-worker'), 'SIGKILL')
      await silent()
      await expect.poll(() => viewers(media), PATIENCE).toBe(0)
      await hears(await watch(media))
    },
    LONG,
  )

  test(
    'leaves nothing behind, however often viewers come and go at once',
    async () => {
      const clock = createTurnableClock()
      const { media } = await serveCamera({ audio: 'aac' }, clock)
      const page = await browser.newPage()
      onTestFinished(() => page.close())
      await page.goto(`${media.url}/health`)
      // Viewers who leave before they have been answered, or right after.
      const visits = `Promise.all(Array.from({ length: 20 }, async (_, i) => {
        const connection = new RTCPeerConnection()
        connection.addTransceiver('audio', { direction: 'recvonly' })
        connection.addTransceiver('video', { direction: 'recvonly' })
        await connection.setLocalDescription()
        const headers = { 'content-type': 'application/sdp' }
        const body = connection.localDescription.sdp
        connection.close()
        const signal = i % 3 ? undefined : AbortSignal.timeout(i)
        const answer = await fetch('/streams/1/whep', { method: 'POST', headers, body, signal }).catch(() => {})
        if (answer) await fetch(answer.headers.get('location'), { method: 'DELETE' })
      }))`
      for (let round = 0; round < 2; round++) await page.evaluate(visits)
      // Who left while his answer was on its way to him is waited for so long.
      clock.advance(20_000)
      await silent()
      await hears(await watch(media))
      expect((await encoding()).length).toBe(1)
    },
    LONG,
  )
})
