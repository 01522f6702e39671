// @module-tag long

import { join } from 'node:path'
import { type MediaHealth, mediaHealth } from '@eyrie/contract'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openBrowser } from '../../../test/fixtures/browser/browser.ts'
import { openWhepPage, type WhepPage } from '../../../test/fixtures/browser/whep-page.ts'
import { startRtspCamera } from '../../../test/fixtures/cameras/rtsp-camera.ts'
import { createDesiredSource } from '../../../test/fixtures/media/control-client.ts'
import { numberedShape, writeNumberedVideo } from '../../../test/fixtures/media/numbered-video.ts'
import { type ServedMedia, serveMedia } from '../../../test/fixtures/media/served-media.ts'
import { findChildPid } from '../../../test/fixtures/processes/processes.ts'
import { needs } from '../../../test/fixtures/requirements/needs.ts'
import { webrtcWorkerRequirement } from '../../../test/fixtures/requirements/webrtc-worker.ts'

const FRAMES = 500
const TICKS = 90_000 / numberedShape.fps
const PATIENCE = { timeout: 60_000, interval: 200 }
const LONG = 120_000

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

/** Media with one source: a looped video without B-frames whose pictures show their numbers. */
async function serveNumbers(keyframeInterval?: number) {
  const media = await serveMedia()
  const path = join(media.folder, 'numbers.mp4')
  await writeNumberedVideo(path, FRAMES, { bFrames: 0, keyframeInterval })
  const control = await media.connectControl()
  await control.apply(createDesiredSource({ id: 1, type: 'inf', url: path }))
  await control.waitForStatus(1, ({ state }) => state === 'running')
  return { media, control }
}

async function watch(media: ServedMedia, protocol?: 'udp' | 'tcp', query = ''): Promise<WhepPage> {
  const viewer = await openWhepPage(browser, media.url, `/streams/1/whep${query}`, { protocol })
  onTestFinished(() => viewer.page.close())
  return viewer
}

async function getHealth(media: ServedMedia): Promise<MediaHealth> {
  return mediaHealth.parse(await (await fetch(`${media.url}/health`)).json())
}

const getWebRtcHealth = async (media: ServedMedia) => (await getHealth(media)).webrtc

async function countFeeds(media: ServedMedia): Promise<number> {
  const [stream] = (await (await fetch(`${media.url}/streams`)).json()) as { viewers: number }[]
  return stream!.viewers
}

const expectFrames = (viewer: WhepPage, count: number) =>
  expect.poll(async () => (await viewer.getShownFrames()).length, PATIENCE).toBeGreaterThan(count)

/** Waits for this many further frames. */
async function expectMoreFrames(viewer: WhepPage, count: number) {
  await expectFrames(viewer, (await viewer.getShownFrames()).length + count)
}

/** Checks that the number in every frame matches its RTP timestamp. */
async function expectExactTimestamps(viewer: WhepPage) {
  const shown = await viewer.getShownFrames()
  const expected = shown.map(({ rtp }) => ({ rtp, number: (rtp / TICKS) % FRAMES }))
  expect(shown.map(({ rtp, number }) => ({ rtp, number }))).toEqual(expected)
}

describe('live view over WebRTC', needs(webrtcWorkerRequirement), () => {
  it(
    'shows every frame with its pts',
    async () => {
      const { media } = await serveNumbers()
      const viewer = await watch(media)
      await expectFrames(viewer, 300)
      await expectExactTimestamps(viewer)
      const [first] = await viewer.getShownFrames()
      expect(Math.abs(Number(viewer.answer['x-pts']) - first!.rtp)).toBeLessThan(90_000 * 20)
      expect(Number(viewer.answer['x-epoch'])).toBe((await getHealth(media)).epoch)
    },
    LONG,
  )

  it(
    'serves several viewers from one feed, which closes with the last viewer',
    async () => {
      const { media } = await serveNumbers()
      const viewers = await Promise.all([watch(media), watch(media), watch(media)])
      for (const viewer of viewers) await expectFrames(viewer, 20)
      expect([(await getWebRtcHealth(media)).viewers, await countFeeds(media)]).toEqual([3, 1])

      for (const { answer } of viewers) {
        const deleted = await fetch(`${media.url}${answer.location}`, { method: 'DELETE' })
        expect(deleted.status).toBe(200)
      }
      expect([(await getWebRtcHealth(media)).viewers, await countFeeds(media)]).toEqual([0, 0])
      expect(
        (await fetch(`${media.url}${viewers[0]!.answer.location}`, { method: 'DELETE' })).status,
      ).toBe(404)
    },
    LONG,
  )

  it(
    'starts a later viewer at the next keyframe',
    async () => {
      const { media } = await serveNumbers()
      await expectFrames(await watch(media), 10)
      const later = await watch(media)
      await expectFrames(later, 20)
      await expectExactTimestamps(later)
    },
    LONG,
  )

  it(
    'starts at once even if keyframes are rare',
    async () => {
      const { media } = await serveNumbers(FRAMES)
      await expectFrames(await watch(media), 75)
      // The GOP must still be running when the browser has connected.
      await vi.waitUntil(async () => {
        const packets = await media.readMetric('eyrie_media_packets_total', '{source="1"}')
        return packets % FRAMES > 75 && packets % FRAMES < FRAMES / 2
      }, PATIENCE)
      const later = await watch(media)
      await expectFrames(later, 20)
      const [first] = await later.getShownFrames()
      const keyframeNumber = (pts: number) => Math.floor(pts / TICKS / FRAMES)
      expect(keyframeNumber(first!.rtp)).toBe(keyframeNumber(Number(later.answer['x-pts'])))
      expect(await countFeeds(media)).toBe(2)
      await expectExactTimestamps(later)
    },
    LONG,
  )

  it(
    'reaches a viewer without UDP over TCP',
    async () => {
      const { media } = await serveNumbers()
      const viewer = await watch(media, 'tcp')
      await expectFrames(viewer, 20)
      await expectExactTimestamps(viewer)
    },
    LONG,
  )

  it(
    'continues after an ICE restart',
    async () => {
      const { media } = await serveNumbers()
      const viewer = await watch(media)
      await expectFrames(viewer, 10)
      expect(await viewer.restartIce()).not.toBe(viewer.answer.etag)
      await expectMoreFrames(viewer, 50)
      expect(await viewer.connectionState()).toBe('connected')
      await expectExactTimestamps(viewer)
    },
    LONG,
  )

  it(
    'recovers from a crash of the worker',
    async () => {
      const { media } = await serveNumbers()
      const viewer = await watch(media)
      await expectFrames(viewer, 10)
      process.kill(findChildPid(process.pid, 'mediasoup-worker'), 'SIGKILL')
      await expect
        .poll(
          async () => [(await getWebRtcHealth(media)).viewers, await countFeeds(media)],
          PATIENCE,
        )
        .toEqual([0, 0])
      await expect.poll(async () => (await getWebRtcHealth(media)).state, PATIENCE).toBe('running')

      const again = await watch(media)
      await expectFrames(again, 20)
      await expectExactTimestamps(again)
    },
    LONG,
  )

  it(
    'continues after the camera was offline',
    async () => {
      const media = await serveMedia()
      const camera = await startRtspCamera()
      const control = await media.connectControl()
      await control.apply(createDesiredSource({ id: 1, type: 'video', url: camera.url }))
      await control.waitForStatus(1, ({ state }) => state === 'running')
      const viewer = await watch(media)
      await expectFrames(viewer, 10)
      await camera.kill()
      await control.waitForStatus(1, ({ state }) => state === 'reconnecting')
      await startRtspCamera({ port: camera.port })
      await control.waitForStatus(1, ({ state }) => state === 'running')
      await expectMoreFrames(viewer, 20)
      const pts = (await viewer.getShownFrames()).map(({ rtp }) => rtp)
      expect(pts).toEqual(pts.toSorted((a, b) => a - b))
    },
    LONG,
  )

  it(
    'is transcoded once the stream has shown B-frames, or rejected with transcode=false',
    async () => {
      const media = await serveMedia()
      const path = join(media.folder, 'reordered.mp4')
      await writeNumberedVideo(path, FRAMES, { bFrames: 2 })
      const control = await media.connectControl()
      await control.apply(createDesiredSource({ id: 1, type: 'inf', url: path }))
      await control.waitForStatus(1, ({ state }) => state === 'running')
      const attempt = () => watch(media, 'udp', '?transcode=false').then(() => 'accepted', String)
      await expect.poll(attempt, PATIENCE).toMatch(/406.*B-frames.*fragmented MP4/)
      expect(await countFeeds(media)).toBe(0)

      const viewer = await watch(media)
      await expectFrames(viewer, 20)
      await expectExactTimestamps(viewer)
    },
    LONG,
  )
})
