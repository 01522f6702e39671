// @module-tag long

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openBrowser } from '../fixtures/browser/browser.ts'
import { collectSamples } from '../fixtures/browser/live-page.ts'
import { readSamples, startSampling } from '../fixtures/browser/live-samples.ts'
import { openConsole } from '../fixtures/browser/local-session.ts'
import { SMALL_WINDOW } from '../fixtures/browser/small-window.ts'
import { startRtspCamera } from '../fixtures/cameras/rtsp-camera.ts'
import { createEngineClient } from '../fixtures/engine/engine-client.ts'
import { numberedShape, writeNumberedVideo } from '../fixtures/media/numbered-video.ts'
import { makeVideo } from '../fixtures/media/test-video.ts'
import { startStallingProxy } from '../fixtures/network/stalling-proxy.ts'
import type { Appliance } from '../fixtures/processes/appliance.ts'
import { findChildPid, findServicePid } from '../fixtures/processes/processes.ts'
import {
  startWatchedAppliance,
  type WatchedAppliance,
} from '../fixtures/processes/watched-appliance.ts'
import { needs } from '../fixtures/requirements/needs.ts'
import { webrtcWorkerRequirement } from '../fixtures/requirements/webrtc-worker.ts'

const SECOND = 90_000
const FRAMES = 500
const POLL = { timeout: 60_000, interval: 200 }

let watched: WatchedAppliance
let appliance: Appliance
let browser: Browser
const getPath = (name: string) => join(appliance.data, 'media', name)

beforeAll(async () => {
  watched = await startWatchedAppliance(FRAMES)
  ;({ appliance, browser } = watched)
}, 180_000)
afterAll(() => watched.remove())

/** Makes this address the only source of the appliance. */
async function play(address: string, elements = [{ name: 'read-number' }]) {
  await createEngineClient(appliance).deploy([
    { sources: [{ type: address.startsWith('rtsp:') ? 'video' : 'inf', address }], elements },
  ])
}

const playFile = (name: string) => play(pathToFileURL(getPath(name)).href)

/** Opens the live page without WebRTC. */
async function openPage({ url = appliance.consoleUrl, inBrowser = browser } = {}): Promise<Page> {
  const page = await inBrowser.newPage({ viewport: SMALL_WINDOW })
  onTestFinished(() => page.close())
  await page.addInitScript('delete globalThis.RTCPeerConnection')
  await openConsole(page, appliance, url)
  return page
}

/** Returns the pts of the next frame that is analysed. */
async function readNewestPts(): Promise<number> {
  for await (const message of createEngineClient(appliance).output({ kinds: ['frame'] })) {
    if (message.kind === 'frame' && message.pts !== null) return message.pts
  }
  throw new Error('the output ended')
}

/** Resolves when the stream has advanced by this many seconds. */
async function waitForStream(seconds: number) {
  const until = (await readNewestPts()) + seconds * SECOND
  await expect.poll(readNewestPts, POLL).toBeGreaterThan(until)
}

const getLastSample = async (page: Page) => (await readSamples(page)).at(-1)

/** Resolves when the frame on display is less than a second behind the analysis. */
async function waitUntilLive(page: Page) {
  const getDelay = async () => {
    const newest = await readNewestPts()
    const shown = await getLastSample(page)
    return shown ? Math.abs(newest - shown.pts) / SECOND : Number.POSITIVE_INFINITY
  }
  await expect.poll(getDelay, POLL).toBeLessThan(1)
}

/** Waits for frames with their own metadata and checks the position of their boxes. */
async function expectExactBoxes(page: Page) {
  const samples = await collectSamples(page, 20, ({ exact }) => exact)
  for (const { exact, boxes, number } of samples) {
    if (exact) {
      expect({ number, boxes }).toEqual({
        number,
        boxes: { own: true, before: false, after: false },
      })
    }
  }
}

describe('live video as fragmented MP4', () => {
  it('starts at once when the next keyframe is far away, and catches up with the live edge', async () => {
    const seconds = 40
    await writeNumberedVideo(getPath('long-group.mp4'), seconds * numberedShape.fps, {
      bFrames: 0,
      keyframeInterval: seconds * numberedShape.fps,
    })
    await playFile('long-group.mp4')
    const early = await openPage()
    await collectSamples(early, 1, ({ pts }) => pts > 5 * SECOND)

    const late = await openPage()
    const [first] = await collectSamples(late, 1, () => true)
    expect(first!.pts).toBeLessThan(seconds * SECOND)
    const getDelay = async () => {
      const [earlier, later] = await Promise.all([early, late].map(getLastSample))
      return Math.abs(earlier!.pts - later!.pts) / SECOND
    }
    await expect.poll(getDelay, POLL).toBeLessThan(1)
  }, 180_000)

  it('catches up after the network has stalled', async () => {
    await playFile('numbers.mp4')
    const network = await startStallingProxy(appliance.consoleUrl)
    const page = await openPage({ url: network.url })
    await expectExactBoxes(page)
    network.stall()
    await waitForStream(6)
    await startSampling(page)
    network.resume()
    await waitUntilLive(page)
    await expectExactBoxes(page)
  }, 180_000)

  it.each<[string, (cdp: CDPSession) => Promise<unknown>, (cdp: CDPSession) => Promise<unknown>]>([
    [
      'suspended',
      cdp => cdp.send('Page.setWebLifecycleState', { state: 'frozen' }),
      cdp => cdp.send('Page.setWebLifecycleState', { state: 'active' }),
    ],
    [
      'throttled',
      cdp => cdp.send('Emulation.setCPUThrottlingRate', { rate: 50 }),
      cdp => cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 }),
    ],
  ])(
    'catches up after the page was %s',
    async (_, disturb, restore) => {
      await playFile('numbers.mp4')
      const page = await openPage()
      await expectExactBoxes(page)
      const cdp = await page.context().newCDPSession(page)
      await disturb(cdp)
      // A throttled page occupies a core for all of this time.
      await waitForStream(4)
      await restore(cdp)
      await waitUntilLive(page)
      await expectExactBoxes(page)
    },
    180_000,
  )

  it('recovers after media and then the engine are killed', async () => {
    await playFile('numbers.mp4')
    const page = await openPage()
    await expectExactBoxes(page)
    for (const service of ['media', 'engine'] as const) {
      process.kill(findServicePid(appliance.data, service), 'SIGKILL')
      await page.getByText('retrying').first().waitFor({ timeout: 60_000 })
      await expect.poll(() => page.getByText('retrying').count(), POLL).toBe(0)
      await expectExactBoxes(page)
    }
  }, 180_000)

  it('adapts when the camera reconnects with another size and aspect ratio', async () => {
    const camera = await startRtspCamera({ size: '320x240' })
    await play(camera.url, [{ name: 'motion' }])
    const page = await openPage()
    const getAspectRatio = () =>
      page.locator('.stage').evaluate(({ clientWidth, clientHeight }) => clientWidth / clientHeight)
    await collectSamples(page, 10, () => true)
    expect(await getAspectRatio()).toBeCloseTo(4 / 3, 1)

    await camera.kill()
    await startRtspCamera({ port: camera.port, size: '720x576', pixelAspect: '64/45' })
    await expect.poll(getAspectRatio, POLL).toBeCloseTo(16 / 9, 1)
    await collectSamples(page, 10, () => true)
    expect(
      await page
        .locator('.stage video')
        .first()
        .evaluate(video => video.videoHeight),
    ).toBe(576)
  }, 180_000)

  it('shows every frame of a variable frame rate at its time', async () => {
    const path = getPath('variable.mp4')
    const filter = "select='not(mod(n,10))+gt(mod(n,50),30)'"
    const encoder = ['-c:v', 'libx264', '-g', '60', '-preset', 'ultrafast', '-bf', '2']
    const args = ['-v', 'error', '-i', getPath('numbers.mp4'), '-vf', filter, '-fps_mode', 'vfr']
    execFileSync('ffmpeg', [...args, ...encoder, path])
    await playFile('variable.mp4')
    const page = await openPage()
    const samples = await collectSamples(page, 60, ({ exact }) => exact)
    const [first] = samples
    for (const { pts, number } of samples) {
      expect(number % 10 === 0 || number % 50 > 30).toBe(true)
      const framesLater = (pts - first!.pts) / (SECOND / numberedShape.fps)
      expect((first!.number + framesLater) % FRAMES).toBe(number)
    }
    expect(samples.some(({ number }) => number % 50 < 30 && number % 10 === 0)).toBe(true)
  }, 180_000)

  it('keeps playing in a browser with a small video buffer', async () => {
    const smallBuffer = await openBrowser('--mse-video-buffer-size-limit-mb=1')
    onTestFinished(() => smallBuffer.close())
    makeVideo(getPath('snow.mp4'), { frames: 240, pattern: 'snow', keyframeInterval: 60 })
    await play(pathToFileURL(getPath('snow.mp4')).href, [{ name: 'motion' }])
    const page = await openPage({ inBrowser: smallBuffer })
    await collectSamples(page, 1, () => true)
    const errors = new Set<string>()
    await startSampling(page)
    await expect
      .poll(async () => {
        for (const text of await page.getByText('retrying').allTextContents()) errors.add(text)
        const samples = await readSamples(page)
        return (samples.at(-1)?.pts ?? 0) - (samples[0]?.pts ?? 0)
      }, POLL)
      .toBeGreaterThan(10 * SECOND)
    expect([...errors]).toEqual([])
  }, 180_000)
})

describe('live video over WebRTC', needs(webrtcWorkerRequirement), () => {
  it('is reported as lost while packets vanish in the network, and returns afterwards', async () => {
    await writeNumberedVideo(getPath('no-b-frames.mp4'), FRAMES, { bFrames: 0 })
    await playFile('no-b-frames.mp4')
    const network = await startStallingProxy(appliance.consoleUrl)
    const page = await browser.newPage({ viewport: SMALL_WINDOW })
    onTestFinished(() => page.close())
    let checks = 0
    page.on('request', request => {
      if (request.method() === 'PATCH') checks += 1
    })
    await openConsole(page, appliance, network.url)
    await expectExactBoxes(page)
    expect(await page.locator('.stage video').first().evaluate(usesWebRtc)).toBe(true)

    // The proxy stalls HTTP, and the worker sends the packets of the video.
    const media = findServicePid(appliance.data, 'media')
    const worker = findChildPid(media, 'mediasoup-worker')
    process.kill(worker, 'SIGSTOP')
    onTestFinished(() => void process.kill(worker, 'SIGCONT'))
    checks = 0
    network.stall()
    await page.locator('.stage').getByText('Connection lost. Retrying…').waitFor(POLL)
    expect(checks).toBe(1)
    await page.getByText('The appliance is unreachable').first().waitFor(POLL)

    process.kill(worker, 'SIGCONT')
    network.resume()
    await expect.poll(() => page.getByText('retrying').count(), POLL).toBe(0)
    await expectExactBoxes(page)
  }, 180_000)
})

const usesWebRtc = (video: object) => 'srcObject' in video && video.srcObject !== null
