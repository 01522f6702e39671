// @module-tag long

import { join } from 'node:path'
import { mediaHealth } from '@eyrie/contract'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openBrowser } from '../../../test/fixtures/browser/browser.ts'
import { openWhepPage, type WhepPage } from '../../../test/fixtures/browser/whep-page.ts'
import {
  type RtspCameraOptions,
  startRtspCamera,
} from '../../../test/fixtures/cameras/rtsp-camera.ts'
import { createAdjustableClock } from '../../../test/fixtures/manual-clock.ts'
import { createDesiredSource } from '../../../test/fixtures/media/control-client.ts'
import { findElementThreads } from '../../../test/fixtures/media/media-threads.ts'
import { type ServedMedia, serveMedia } from '../../../test/fixtures/media/served-media.ts'
import { makeVideo } from '../../../test/fixtures/media/test-video.ts'
import { findChildPid } from '../../../test/fixtures/processes/processes.ts'
import { needs } from '../../../test/fixtures/requirements/needs.ts'
import { webrtcWorkerRequirement } from '../../../test/fixtures/requirements/webrtc-worker.ts'
import type { Clock } from '../runtime/clock.ts'

const PATIENCE = { timeout: 60_000, interval: 200 }
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
  const control = await media.connectControl()
  await control.apply(createDesiredSource({ id: 1, type: 'video', url: camera.url }))
  await control.waitForStatus(1, ({ state }) => state === 'running')
  return { camera, media, control }
}

async function watch(media: ServedMedia, sounding = true): Promise<WhepPage> {
  const viewer = await openWhepPage(browser, media.url, '/streams/1/whep', { sounding })
  onTestFinished(() => viewer.page.close())
  return viewer
}

/** Waits until this many seconds of sound were played that the browser did not conceal. */
async function expectSound(viewer: WhepPage, seconds = 1) {
  const countReal = async () => {
    const { samples, concealed } = await viewer.getSoundStatistics()
    return samples - concealed
  }
  const before = await countReal()
  const { energy } = await viewer.getSoundStatistics()
  await expect.poll(countReal, PATIENCE).toBeGreaterThan(before + seconds * SECOND_OF_SAMPLES)
  await expect
    .poll(async () => (await viewer.getSoundStatistics()).energy, PATIENCE)
    .toBeGreaterThan(energy)
}

async function expectMoreFrames(viewer: WhepPage, count: number) {
  const before = (await viewer.getShownFrames()).length
  await expect
    .poll(async () => (await viewer.getShownFrames()).length, PATIENCE)
    .toBeGreaterThan(before + count)
}

/** Threads of the branch that produces Opus. */
const findEncoderThreads = () => findElementThreads('aux-sound-opus')

const waitUntilNotEncoding = () =>
  vi.waitUntil(async () => (await findEncoderThreads()).length === 0, PATIENCE)

const countViewers = async (media: ServedMedia) =>
  mediaHealth.parse(await (await fetch(`${media.url}/health`)).json()).webrtc.viewers

async function getSoundCodec(media: ServedMedia): Promise<string | undefined> {
  const [stream] = (await (await fetch(`${media.url}/streams`)).json()) as { sound?: string }[]
  return stream!.sound
}

const median = (values: number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

describe('sound over WebRTC', needs(webrtcWorkerRequirement), () => {
  it.each(['aac', 'pcma', 'opus'] as const)(
    'plays the sound of a camera that sends %s',
    async audio => {
      const { media } = await serveCamera({ audio })
      const viewer = await watch(media)
      expect(viewer.answer.sdp).toMatch(/m=audio 9 .*\r\n(a=.*\r\n|c=.*\r\n)*a=sendonly/)
      await expectSound(viewer, 3)
      await expectMoreFrames(viewer, 20)
    },
    LONG,
  )

  it(
    'is reported with the capture time of its picture, however late it arrives',
    async () => {
      // This camera sends packets of an eighth of a second.
      const { media } = await serveCamera({ audio: 'pcma' })
      const viewer = await watch(media)
      const measureError = async () => {
        const { lateMs, reportedLateMs } = await viewer.getSoundStatistics()
        return lateMs === null || reportedLateMs === null ? undefined : lateMs - reportedLateMs
      }
      await expect.poll(measureError, PATIENCE).toBeDefined()
      const errors: number[] = []
      await vi.waitFor(async () => {
        errors.push((await measureError()) ?? Number.NaN)
        expect(errors.filter(Number.isFinite).length).toBeGreaterThan(40)
      }, PATIENCE)
      // Without sender reports the error would be an eighth of a second.
      expect(Math.abs(median(errors.filter(Number.isFinite)))).toBeLessThan(40)
    },
    LONG,
  )

  it(
    'plays within 60 ms of its picture once the browser has synchronised them',
    async () => {
      const { media } = await serveCamera({ audio: 'pcma' })
      const viewer = await watch(media)
      const late: number[] = []
      const measureLateness = async () => {
        const { lateMs } = await viewer.getSoundStatistics()
        if (lateMs !== null) late.push(lateMs)
        return late.length < 30 ? Number.POSITIVE_INFINITY : Math.abs(median(late.slice(-30)))
      }
      await expect.poll(measureLateness, { timeout: 100_000, interval: 100 }).toBeLessThan(60)
    },
    LONG,
  )

  it(
    'is encoded once for all listeners, and not for viewers without sound',
    async () => {
      const { media } = await serveCamera({ audio: 'aac' })
      await expectMoreFrames(await watch(media, false), 20)
      expect(await findEncoderThreads()).toEqual([])

      const [first, second] = [await watch(media), await watch(media)]
      await Promise.all([expectSound(first), expectSound(second)])
      const threads = await findEncoderThreads()
      expect(threads.length).toBe(1)
      await fetch(`${media.url}${first!.answer.location}`, { method: 'DELETE' })
      await expectSound(second!)
      expect(await findEncoderThreads()).toEqual(threads)
      await fetch(`${media.url}${second!.answer.location}`, { method: 'DELETE' })
      await waitUntilNotEncoding()
      expect(await countViewers(media)).toBe(1)
    },
    LONG,
  )

  it(
    'is declined for a source without sound, which still shows its picture',
    async () => {
      const media = await serveMedia()
      const path = join(media.folder, 'clip.mp4')
      makeVideo(path, { frames: 100 })
      const control = await media.connectControl()
      await control.apply(createDesiredSource({ id: 1, type: 'inf', url: path }))
      await control.waitForStatus(1, ({ state }) => state === 'running')
      const viewer = await watch(media)
      expect(viewer.answer.sdp).toMatch(/m=audio 0 .*\r\na=mid:0\r\na=inactive/)
      await expectMoreFrames(viewer, 20)
      expect(await findEncoderThreads()).toEqual([])
    },
    LONG,
  )

  it(
    'follows a camera that reconnects without sound and later with sound',
    async () => {
      const { camera, media, control } = await serveCamera({ audio: 'aac' })
      const viewer = await watch(media)
      await expectSound(viewer)

      const restart = async (present: typeof camera, audio?: 'pcma') => {
        await present.kill()
        await control.waitForStatus(1, ({ state }) => state === 'reconnecting')
        const next = await startRtspCamera({ port: camera.port, audio })
        await control.waitForStatus(1, ({ state }) => state === 'running')
        return next
      }
      const other = await restart(camera, 'pcma')
      await expectSound(viewer)
      const mute = await restart(other)
      await expectMoreFrames(viewer, 50)
      await vi.waitUntil(async () => (await getSoundCodec(media)) === undefined, PATIENCE)
      const late = await watch(media)
      expect(late.answer.sdp).toMatch(/m=audio 0/)

      await restart(mute, 'pcma')
      await expectSound(viewer)
      await vi.waitUntil(async () => (await getSoundCodec(media)) === 'pcm_alaw', PATIENCE)
      await expectSound(await watch(media))
    },
    LONG,
  )

  it(
    'ends with the worker and starts again with a new one',
    async () => {
      const { media } = await serveCamera({ audio: 'aac' })
      await expectSound(await watch(media))
      process.kill(findChildPid(process.pid, 'mediasoup-worker'), 'SIGKILL')
      await waitUntilNotEncoding()
      await expect.poll(() => countViewers(media), PATIENCE).toBe(0)
      await expectSound(await watch(media))
    },
    LONG,
  )

  it(
    'releases everything when many viewers come and go at once',
    async () => {
      const clock = createAdjustableClock()
      const { media } = await serveCamera({ audio: 'aac' }, clock)
      const page = await browser.newPage()
      onTestFinished(() => page.close())
      await page.goto(`${media.url}/health`)
      // Viewers who leave before the answer or right after it.
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
      // The connect timeout of viewers who left while the answer was in transit.
      clock.advance(20_000)
      await waitUntilNotEncoding()
      await expectSound(await watch(media))
      expect((await findEncoderThreads()).length).toBe(1)
    },
    LONG,
  )
})
