import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { collectSamples } from '../fixtures/browser/live-page.ts'
import { createEngineClient } from '../fixtures/engine/engine-client.ts'
import { numberedShape } from '../fixtures/media/numbered-video.ts'
import { type Appliance, startAppliance } from '../fixtures/processes/appliance.ts'
import {
  numberReaderPlugins,
  startWatchedAppliance,
  type WatchedAppliance,
} from '../fixtures/processes/watched-appliance.ts'

const FRAMES = process.env.EYRIE_LONG === '1' ? 1000 : 300
/** As many frames as there are distinct numbers, so that no two frames of the long run show the same one. */
const NUMBERS = 2 ** numberedShape.bits
const TICKS_PER_FRAME = 90_000 / numberedShape.fps

let watched: WatchedAppliance
let appliance: Appliance
let video: string
let browser: Browser

beforeAll(async () => {
  watched = await startWatchedAppliance(NUMBERS)
  ;({ appliance, browser, video } = watched)
}, 120_000)
afterAll(async () => {
  // A test may have replaced the appliance by another one on the same data.
  await appliance.stop()
  await watched.remove()
})

/** Makes the numbered video the only source of the appliance and opens the live page. */
async function openNumberedVideo(rate?: number): Promise<Page> {
  await createEngineClient(appliance).deploy([
    {
      sources: [{ type: 'inf', address: pathToFileURL(video).href, rate }],
      elements: [{ name: 'read-number' }],
    },
  ])
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  onTestFinished(() => page.close())
  await page.goto(appliance.consoleUrl)
  return page
}

describe('live page', () => {
  it(`draws boxes over exactly the frame they belong to, through ${FRAMES} frames`, async () => {
    const page = await openNumberedVideo()
    const samples = await collectSamples(page, FRAMES, ({ exact }) => exact, 300_000)

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
    const page = await openNumberedVideo(5)
    const samples = await collectSamples(page, 50, ({ exact, objects }) => !exact && objects > 0)
    for (const { exact, objects, pts, metadataPts } of samples) {
      if (objects > 0 && !exact) expect(metadataPts).toBeLessThan(pts)
    }
  }, 120_000)

  it('marks a source that was never connected, shows the full reason and sets the page title', async () => {
    const door = { name: 'door', coords: [0, 1].map(x => ({ x, y: 0.5 })) }
    await createEngineClient(appliance).deploy([
      { sources: [{ type: 'inf', address: pathToFileURL(video).href }], elements: [{ name: 'read-number' }] },
      {
        sources: [{ type: 'video', address: `rtsp://127.0.0.1:9/${'a-long-way/'.repeat(12)}` }],
        elements: [{ name: 'line-crossing', config: { '0': { lines: [door] } } }],
      },
    ])
    const page = await browser.newPage({ viewport: { width: 1024, height: 800 } })
    onTestFinished(() => page.close())
    await page.goto(appliance.consoleUrl)
    await expect.poll(() => page.title(), { timeout: 30_000 }).toBe('numbers.mp4 – Eyrie')
    const requestedUrls: string[] = []
    page.on('request', request => requestedUrls.push(request.url()))
    const unreachableSource = page.getByRole('link', { name: 'not connected' })
    expect(await unreachableSource.locator('.name').getAttribute('title')).toMatch(
      /^127\.0\.0\.1:9.*a-long-way\/$/,
    )
    await unreachableSource.click()
    await page.getByRole('alert').getByText('No video from the source').waitFor()
    await expect.poll(() => page.title(), { timeout: 30_000 }).toMatch(/^127\.0\.0\.1:9.* – Eyrie$/)

    const problem = page.locator('.problem')
    expect(await problem.textContent()).toMatch(/^Attempt \d+ failed, .*check that the camera is on/)
    expect(await problem.evaluate(element => element.scrollWidth - element.clientWidth)).toBe(0)
    await page.getByRole('region', { name: 'Counts' }).getByRole('heading', { name: 'door' }).waitFor()
    expect(requestedUrls.filter(url => url.endsWith('snapshot.jpg'))).toEqual([])
  }, 120_000)

  it('sends no token to the browser', async () => {
    const received: string[] = []
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    page.on('websocket', socket => {
      received.push(socket.url())
      socket.on('framereceived', ({ payload }) => received.push(String(payload)))
    })
    page.on('response', async response => {
      received.push(response.url(), JSON.stringify(response.headers()), await response.text().catch(() => ''))
    })
    await page.goto(appliance.consoleUrl)
    await expect
      .poll(() => received.some(text => text.includes('"kind":"frame"')), { timeout: 20_000 })
      .toBe(true)
    expect(appliance.token).not.toBe('')
    for (const text of received) expect(text).not.toContain(appliance.token)
  }, 60_000)

  it('recovers after the whole appliance is restarted', async () => {
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
    await expect.poll(() => page.getByText('retrying').count(), { timeout: 40_000 }).toBe(0)
    const exact = (await collectSamples(page, 20, ({ exact }) => exact)).filter(({ exact }) => exact)
    for (const { boxes } of exact) expect(boxes).toEqual({ own: true, before: false, after: false })
  }, 120_000)
})
