import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { collectSamples } from '../fixtures/browser/live-page.ts'
import { type LiveSample, readSamples, startSampling } from '../fixtures/browser/live-samples.ts'
import { openConsole } from '../fixtures/browser/local-session.ts'
import { SMALL_WINDOW } from '../fixtures/browser/small-window.ts'
import { startTamperingProxy } from '../fixtures/cameras/tampering-proxy.ts'
import { startTwoStreamCamera } from '../fixtures/cameras/two-stream-camera.ts'
import { createEngineClient } from '../fixtures/engine/engine-client.ts'
import { numberedShape, writeNumberedVideo } from '../fixtures/media/numbered-video.ts'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import { type Appliance, startAppliance } from '../fixtures/processes/appliance.ts'
import { findChildPid, findServicePid } from '../fixtures/processes/processes.ts'
import {
  numberReaderPlugins,
  startWatchedAppliance,
  type WatchedAppliance,
} from '../fixtures/processes/watched-appliance.ts'
import { needs } from '../fixtures/requirements/needs.ts'
import { webrtcWorkerRequirement } from '../fixtures/requirements/webrtc-worker.ts'

const isLong = process.env.EYRIE_LONG === '1'
const FRAMES = isLong ? 1000 : 150
/**
 * The frames of the video: in the long run as many as there are distinct numbers, so that no two
 * frames show the same one.
 */
const NUMBERS = isLong ? 2 ** numberedShape.bits : 500
const TICKS_PER_FRAME = 90_000 / numberedShape.fps

let watched: WatchedAppliance
let appliance: Appliance
let video: string
let browser: Browser

beforeAll(async () => {
  watched = await startWatchedAppliance(NUMBERS)
  ;({ appliance, browser, video } = watched)
}, 180_000)
afterAll(async () => {
  // A test may have replaced the appliance by another one on the same data.
  await appliance.stop()
  await watched.remove()
})

/** Makes a numbered video the only source of the appliance and opens the live page. */
async function openNumberedVideo({
  path = video,
  rate,
}: {
  path?: string
  rate?: number
} = {}): Promise<Page> {
  await createEngineClient(appliance).deploy([
    {
      sources: [{ type: 'inf', address: pathToFileURL(path).href, rate }],
      elements: [{ name: 'read-number' }],
    },
  ])
  const page = await browser.newPage({ viewport: SMALL_WINDOW })
  onTestFinished(() => page.close())
  await openConsole(page, appliance)
  return page
}

/** Pictures of the camera with two streams show the same number for 400 ms. */
const REPEATED_PICTURES = 10
/**
 * Distance from a change of the number at which the boxes must be right, even before the streams
 * are aligned exactly.
 */
const SETTLED_TICKS = 4 * TICKS_PER_FRAME
const WAIT = { timeout: 250_000, interval: 500 }

/** Makes a camera with two streams the only source of the appliance and opens the live page. */
async function openTwoStreamCamera() {
  const camera = await startTwoStreamCamera({ subEvery: 2, repeat: REPEATED_PICTURES })
  const proxy = await startTamperingProxy({ url: camera.subUrl, port: camera.port })
  const address = { url: camera.mainUrl, sub_url: proxy.url, transport: 'tcp' as const }
  await createEngineClient(appliance).deploy([
    { sources: [{ type: 'video', address }], elements: [{ name: 'read-number' }] },
  ])
  const page = await browser.newPage({ viewport: SMALL_WINDOW })
  onTestFinished(() => page.close())
  await openConsole(page, appliance)
  return { page, proxy }
}

/** The state of the sub stream of the only source, as media reports it. */
async function readSubStream(): Promise<{ analysed?: boolean; width?: number }> {
  const headers = { authorization: `Bearer ${appliance.token}` }
  const response = await fetch(`${appliance.mediaUrl}/streams`, { headers })
  const [stream] = (await response.json()) as { sub?: { analysed: boolean; width?: number } }[]
  return stream?.sub ?? {}
}

/** Returns the samples with metadata whose number is also shown some time before and afterwards. */
function findSettled(samples: LiveSample[]): LiveSample[] {
  const isShownAt = (number: number, matches: (pts: number) => boolean) =>
    samples.some(sample => sample.number === number && matches(sample.pts))
  return samples.filter(
    ({ objects, number, pts }) =>
      objects > 0 &&
      isShownAt(number, other => other <= pts - SETTLED_TICKS) &&
      isShownAt(number, other => other >= pts + SETTLED_TICKS),
  )
}

/**
 * Resolves when 50 frames whose number is not about to change have only their own box. Boxes of
 * pictures from another time would be at other places. While the machine is busy, packets arrive
 * late, and single frames may have older boxes.
 */
async function waitForOwnBoxes(page: Page) {
  await startSampling(page)
  const countRight = async () => {
    const settled = findSettled(await readSamples(page))
    return settled.filter(({ boxes }) => boxes.own && !boxes.before && !boxes.after).length
  }
  await expect.poll(countRight, WAIT).toBeGreaterThanOrEqual(50)
}

const usesWebRtc = (page: Page) =>
  page
    .locator('.stage video')
    .first()
    .evaluate(player => 'srcObject' in player && player.srcObject !== null)

describe('live page over WebRTC', needs(webrtcWorkerRequirement), () => {
  let path: string
  beforeAll(async () => {
    path = join(appliance.data, 'media/without-b-frames.mp4')
    await writeNumberedVideo(path, 500, { bFrames: 0 })
  })

  it(`draws boxes over exactly the frame they belong to, through ${FRAMES} frames`, async () => {
    const page = await openNumberedVideo({ path })
    const samples = await collectSamples(page, FRAMES, ({ exact }) => exact, 300_000)
    expect(await usesWebRtc(page)).toBe(true)

    const exact = samples.filter(({ exact }) => exact)
    expect(new Set(exact.map(({ number }) => number)).size).toBeGreaterThan(50)
    for (const { number, pts, metadataPts, boxes } of exact) {
      expect({ number, boxes }).toEqual({
        number,
        boxes: { own: true, before: false, after: false },
      })
      expect(metadataPts).toBe(pts)
    }
  }, 400_000)

  it('reconnects over WebRTC after the worker is killed', async () => {
    const page = await openNumberedVideo({ path })
    await collectSamples(page, 10, ({ exact }) => exact)
    const media = findServicePid(appliance.data, 'media')
    const worker = findChildPid(media, 'mediasoup-worker')
    process.kill(worker, 'SIGKILL')
    // From here on, WebRTC works only with another worker.
    await vi.waitFor(() => expect(findChildPid(media, 'mediasoup-worker')).not.toBe(worker), {
      timeout: 60_000,
    })

    const samples = await collectSamples(page, 20, ({ exact }) => exact)
    expect(await usesWebRtc(page)).toBe(true)
    for (const { exact, boxes } of samples) {
      if (exact) expect(boxes).toEqual({ own: true, before: false, after: false })
    }
  }, 180_000)
})

describe('live page', () => {
  it(`draws boxes over exactly the frame they belong to, through ${FRAMES} frames with B-frames, which it plays as fragmented MP4`, async () => {
    const page = await openNumberedVideo()
    const samples = await collectSamples(page, FRAMES, ({ exact }) => exact, 300_000)
    expect(await usesWebRtc(page)).toBe(false)

    for (const { exact, number, pts, metadataPts, boxes, objects } of samples) {
      if (exact) {
        expect({ pts, number, boxes }).toEqual({
          pts,
          number,
          boxes: { own: true, before: false, after: false },
        })
        expect(metadataPts).toBe(pts)
      } else if (objects > 0) expect(metadataPts).toBeLessThan(pts)
    }
    const [first] = samples
    for (const { pts, number } of samples) {
      const framesLater = Math.round((pts - first!.pts) / TICKS_PER_FRAME)
      expect(number).toBe((first!.number + framesLater + NUMBERS) % NUMBERS)
    }
    const frames = samples.map(({ frames }) => frames)
    expect(frames).toEqual(frames.toSorted((a, b) => a - b))
  }, 400_000)

  it('shows the boxes of the latest analysed frame, never of a later one, when frames are skipped', async () => {
    const page = await openNumberedVideo({ rate: 5 })
    const samples = await collectSamples(page, 50, ({ exact, objects }) => !exact && objects > 0)
    for (const { exact, objects, pts, metadataPts } of samples) {
      if (objects > 0 && !exact) expect(metadataPts).toBeLessThan(pts)
    }
  }, 180_000)

  it("draws the boxes of a camera's sub stream on the main stream", {
    tags: 'long',
    timeout: 800_000,
  }, async () => {
    const { page } = await openTwoStreamCamera()
    await expect
      .poll(readSubStream, WAIT)
      .toMatchObject({ analysed: true, width: numberedShape.width / 2 })
    await waitForOwnBoxes(page)
    const videoWidth = () => page.locator('.stage video').first().evaluate(readVideoWidth)
    await expect.poll(videoWidth, WAIT).toBe(numberedShape.width)
  })

  it('requests small pictures of the channels in the list', async () => {
    const addresses = [pathToFileURL(video).href, SMALL_PICTURE]
    const sources = addresses.map(address => ({ type: 'inf' as const, address }))
    await createEngineClient(appliance).deploy([{ sources, elements: [{ name: 'read-number' }] }])
    const page = await browser.newPage({ viewport: { width: 1024, height: 800 } })
    onTestFinished(() => page.close())
    const request = page.waitForRequest(/snapshot\.jpg/, { timeout: WAIT.timeout })
    await openConsole(page, appliance)
    expect((await request).url()).toMatch(/snapshot\.jpg\?size=small$/)
  }, 200_000)

  it('requests a picture in the list again if there was none yet', async () => {
    const addresses = [pathToFileURL(video).href, SMALL_PICTURE]
    const sources = addresses.map(address => ({ type: 'inf' as const, address }))
    await createEngineClient(appliance).deploy([{ sources, elements: [{ name: 'read-number' }] }])
    const page = await browser.newPage({ viewport: { width: 1024, height: 800 } })
    onTestFinished(() => page.close())
    await page.route(/snapshot\.jpg/, route => route.fulfill({ status: 503 }), { times: 2 })
    await openConsole(page, appliance)
    const countPictures = () => page.locator('.snapshot img').evaluateAll(countLoaded)
    await expect.poll(countPictures, WAIT).toBe(2)
  }, 200_000)

  it('marks a source that was never connected, shows the full reason and sets the page title', async () => {
    const door = { name: 'door', coords: [0, 1].map(x => ({ x, y: 0.5 })) }
    await createEngineClient(appliance).deploy([
      {
        sources: [{ type: 'inf', address: pathToFileURL(video).href }],
        elements: [{ name: 'read-number' }],
      },
      {
        sources: [{ type: 'video', address: `rtsp://127.0.0.1:9/${'a-long-way/'.repeat(12)}` }],
        elements: [{ name: 'line-crossing', config: { '0': { lines: [door] } } }],
      },
    ])
    const page = await browser.newPage({ viewport: { width: 1024, height: 800 } })
    onTestFinished(() => page.close())
    await openConsole(page, appliance)
    await expect.poll(() => page.title()).toBe('numbers.mp4 – Eyrie')
    const requestedUrls: string[] = []
    page.on('request', request => requestedUrls.push(request.url()))
    const unreachableSource = page.getByRole('link', { name: 'not connected' })
    expect(await unreachableSource.locator('.name').getAttribute('title')).toMatch(
      /^127\.0\.0\.1:9.*a-long-way\/$/,
    )
    await unreachableSource.click()
    await page.getByRole('alert').getByText('No video from the source').waitFor()
    await expect.poll(() => page.title()).toMatch(/^127\.0\.0\.1:9.* – Eyrie$/)
    const objects = page.locator('.gauges div').filter({ hasText: 'Objects' })
    expect(await objects.getByRole('definition').textContent()).toBe('– ')

    const problem = page.locator('.problem')
    expect(await problem.textContent()).toMatch(
      /^Attempt \d+ failed, .*check that the camera is on/,
    )
    expect(await problem.evaluate(element => element.scrollWidth - element.clientWidth)).toBe(0)
    await page
      .getByRole('region', { name: 'Counts' })
      .getByRole('heading', { name: 'door' })
      .waitFor()
    expect(requestedUrls.filter(url => url.includes('snapshot.jpg'))).toEqual([])
  }, 180_000)

  it('sends no token to the browser', async () => {
    const received: string[] = []
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    page.on('websocket', socket => {
      received.push(socket.url())
      socket.on('framereceived', ({ payload }) => received.push(String(payload)))
    })
    page.on('response', async response => {
      received.push(
        response.url(),
        JSON.stringify(response.headers()),
        await response.text().catch(() => ''),
      )
    })
    await openConsole(page, appliance)
    await expect
      .poll(() => received.some(text => text.includes('"kind":"frame"')), { timeout: 60_000 })
      .toBe(true)
    expect(appliance.token).not.toBe('')
    for (const text of received) expect(text).not.toContain(appliance.token)
  }, 180_000)

  it('recovers after the whole appliance is restarted', {
    tags: 'long',
    timeout: 180_000,
  }, async () => {
    const page = await openNumberedVideo()
    await collectSamples(page, 1, ({ exact }) => exact)
    await appliance.stop()
    await page.getByText('retrying').first().waitFor()
    await page.getByText('Showing the last known state').waitFor()

    appliance = await startAppliance({
      environment: {
        EYRIE_DATA: appliance.data,
        EYRIE_PLUGINS: numberReaderPlugins,
        EYRIE_MANAGEMENT_PORT: new URL(appliance.consoleUrl).port,
      },
    })
    // The time that the appliance takes to start does not count.
    await appliance.waitForLine(/ready: open/)
    await expect.poll(() => page.getByText('retrying').count()).toBe(0)
    const exact = (await collectSamples(page, 20, ({ exact }) => exact)).filter(
      ({ exact }) => exact,
    )
    for (const { boxes } of exact) expect(boxes).toEqual({ own: true, before: false, after: false })
  })
})

/** Runs in the page. The tests are compiled without the DOM types. */
const readVideoWidth = (video: unknown) => (video as { videoWidth: number }).videoWidth
const countLoaded = (images: unknown) =>
  (images as { naturalWidth: number }[]).filter(({ naturalWidth }) => naturalWidth > 0).length
