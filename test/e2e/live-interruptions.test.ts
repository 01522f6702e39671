import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Appliance } from '../fixtures/appliance.ts'
import { openBrowser } from '../fixtures/browser.ts'
import { engineOf } from '../fixtures/engine-api.ts'
import { samplesUntil } from '../fixtures/live-page.ts'
import { noteSamples, samplesOf } from '../fixtures/live-samples.ts'
import { numbered, writeNumberedVideo } from '../fixtures/numbered-video.ts'
import { servicePid } from '../fixtures/processes.ts'
import { startRtspCamera } from '../fixtures/rtsp-camera.ts'
import { startStallingProxy } from '../fixtures/stalling-proxy.ts'
import { makeVideo } from '../fixtures/video.ts'
import { startWatchedAppliance, type WatchedAppliance } from '../fixtures/watched-appliance.ts'

const SECOND = 90_000
const FRAMES = 1000
const LONG = { timeout: 60_000, interval: 200 }

let watched: WatchedAppliance
let appliance: Appliance
let browser: Browser
const fileOf = (name: string) => join(appliance.data, 'media', name)

beforeAll(async () => {
  watched = await startWatchedAppliance(FRAMES)
  ;({ appliance, browser } = watched)
}, 120_000)
afterAll(() => watched.remove())

/** Makes this the appliance's only source. */
async function play(address: string, elements = [{ name: 'read-number' }]) {
  await engineOf(appliance).deploy([
    { sources: [{ type: address.startsWith('rtsp:') ? 'video' : 'inf', address }], elements },
  ])
}

const playFile = (name: string) => play(pathToFileURL(fileOf(name)).href)

/** Opens the page in a browser that has no WebRTC. */
async function openPage({ url = appliance.consoleUrl, from = browser } = {}): Promise<Page> {
  const page = await from.newPage({ viewport: { width: 1280, height: 800 } })
  onTestFinished(() => page.close())
  await page.addInitScript('delete globalThis.RTCPeerConnection')
  await page.goto(url)
  return page
}

/** Stream time of the newest frame that was analysed. */
async function newestPts(): Promise<number> {
  for await (const message of engineOf(appliance).output({ kinds: ['frame'] })) {
    if (message.kind === 'frame' && message.pts !== null) return message.pts
  }
  throw new Error('the output has ended')
}

/** Resolves when the stream is so many seconds further. */
async function streamGoesOn(seconds: number) {
  const until = (await newestPts()) + seconds * SECOND
  await expect.poll(newestPts, LONG).toBeGreaterThan(until)
}

const lastShown = async (page: Page) => (await samplesOf(page)).at(-1)

/** Resolves when what is shown is less than a second behind what was analysed. */
async function untilLive(page: Page) {
  const behind = async () => {
    const newest = await newestPts()
    const shown = await lastShown(page)
    return shown ? Math.abs(newest - shown.pts) / SECOND : Number.POSITIVE_INFINITY
  }
  await expect.poll(behind, LONG).toBeLessThan(1)
}

/** Boxes lie where they belong, now as before. */
async function untilExact(page: Page) {
  const samples = await samplesUntil(page, 20, ({ exact }) => exact)
  for (const { exact, boxes, number } of samples) {
    if (exact)
      expect({ number, boxes }).toEqual({ number, boxes: { own: true, before: false, after: false } })
  }
}

describe('a live view by fragmented MP4', () => {
  it('begins at once where the next keyframe is far, and catches up with what is live', async () => {
    const seconds = 40
    await writeNumberedVideo(fileOf('long-group.mp4'), FRAMES, {
      bFrames: 0,
      keyframeInterval: seconds * numbered.fps,
    })
    await playFile('long-group.mp4')
    const early = await openPage()
    await samplesUntil(early, 1, ({ pts }) => pts > 5 * SECOND)

    const late = await openPage()
    const [first] = await samplesUntil(late, 1, () => true)
    expect(first!.pts).toBeLessThan(seconds * SECOND)
    const behind = async () => {
      const [earlier, later] = await Promise.all([early, late].map(lastShown))
      return Math.abs(earlier!.pts - later!.pts) / SECOND
    }
    await expect.poll(behind, LONG).toBeLessThan(1)
  }, 180_000)

  it('catches up when the network has stood still', async () => {
    await playFile('numbers.mp4')
    const network = await startStallingProxy(appliance.consoleUrl)
    const page = await openPage({ url: network.url })
    await untilExact(page)
    network.stall()
    await streamGoesOn(8)
    await noteSamples(page)
    network.resume()
    await untilLive(page)
    await untilExact(page)
  }, 180_000)

  it.each<[string, (cdp: CDPSession) => Promise<unknown>, (cdp: CDPSession) => Promise<unknown>]>([
    [
      'asleep',
      cdp => cdp.send('Page.setWebLifecycleState', { state: 'frozen' }),
      cdp => cdp.send('Page.setWebLifecycleState', { state: 'active' }),
    ],
    [
      'far too slow',
      cdp => cdp.send('Emulation.setCPUThrottlingRate', { rate: 50 }),
      cdp => cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 }),
    ],
  ])(
    'catches up when the page was %s',
    async (_, disturb, calm) => {
      await playFile('numbers.mp4')
      const page = await openPage()
      await untilExact(page)
      const cdp = await page.context().newCDPSession(page)
      await disturb(cdp)
      await streamGoesOn(8)
      await calm(cdp)
      await untilLive(page)
      await untilExact(page)
    },
    180_000,
  )

  it('goes on when media and engine have died, one after the other', async () => {
    await playFile('numbers.mp4')
    const page = await openPage()
    await untilExact(page)
    for (const service of ['media', 'engine'] as const) {
      process.kill(servicePid(appliance.data, service), 'SIGKILL')
      await page.getByText('retrying').first().waitFor({ timeout: 30_000 })
      await expect.poll(() => page.getByText('retrying').count(), LONG).toBe(0)
      await untilExact(page)
    }
  }, 180_000)

  it('goes on when the camera comes back with another size and shape', async () => {
    const camera = await startRtspCamera({ size: '320x240' })
    await play(camera.url, [{ name: 'motion' }])
    const page = await openPage()
    const shape = () =>
      page.locator('.stage').evaluate(({ clientWidth, clientHeight }) => clientWidth / clientHeight)
    await samplesUntil(page, 10, () => true)
    expect(await shape()).toBeCloseTo(4 / 3, 1)

    await camera.kill()
    await startRtspCamera({ port: camera.port, size: '720x576', pixelAspect: '64/45' })
    await expect.poll(shape, LONG).toBeCloseTo(16 / 9, 1)
    await samplesUntil(page, 10, () => true)
    expect(
      await page
        .locator('.stage video')
        .first()
        .evaluate(video => video.videoHeight),
    ).toBe(576)
  }, 180_000)

  it('shows every frame of a variable rate at its time', async () => {
    const path = fileOf('variable.mp4')
    const filter = "select='not(mod(n,10))+gt(mod(n,50),30)'"
    const encoder = ['-c:v', 'libx264', '-g', '60', '-preset', 'ultrafast', '-bf', '2']
    const args = ['-v', 'error', '-i', fileOf('numbers.mp4'), '-vf', filter, '-fps_mode', 'vfr']
    execFileSync('ffmpeg', [...args, ...encoder, path])
    await playFile('variable.mp4')
    const page = await openPage()
    const samples = await samplesUntil(page, 100, ({ exact }) => exact)
    const [first] = samples
    for (const { pts, number } of samples) {
      expect(number % 10 === 0 || number % 50 > 30).toBe(true)
      const framesLater = (pts - first!.pts) / (SECOND / numbered.fps)
      expect((first!.number + framesLater) % FRAMES).toBe(number)
    }
    expect(samples.some(({ number }) => number % 50 < 30 && number % 10 === 0)).toBe(true)
  }, 180_000)

  it('plays on in a browser that has room for little video', async () => {
    const small = await openBrowser('--mse-video-buffer-size-limit-mb=1')
    onTestFinished(() => small.close())
    makeVideo(fileOf('snow.mp4'), {
      frames: 240,
      pattern: 'snow',
      width: 640,
      height: 480,
      keyframeInterval: 60,
    })
    await play(pathToFileURL(fileOf('snow.mp4')).href, [{ name: 'motion' }])
    const page = await openPage({ from: small })
    await samplesUntil(page, 1, () => true)
    const complaints = new Set<string>()
    await noteSamples(page)
    await expect
      .poll(async () => {
        for (const text of await page.getByText('retrying').allTextContents()) complaints.add(text)
        const samples = await samplesOf(page)
        return (samples.at(-1)?.pts ?? 0) - (samples[0]?.pts ?? 0)
      }, LONG)
      .toBeGreaterThan(10 * SECOND)
    expect([...complaints]).toEqual([])
  }, 180_000)
})
