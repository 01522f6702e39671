import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Appliance, startAppliance } from '../fixtures/appliance.ts'
import { engineOf } from '../fixtures/engine-api.ts'
import { samplesUntil } from '../fixtures/live-page.ts'
import { numbered } from '../fixtures/numbered-video.ts'
import {
  readingPlugins,
  startWatchedAppliance,
  type WatchedAppliance,
} from '../fixtures/watched-appliance.ts'

const FRAMES = process.env.EYRIE_LONG === '1' ? 1000 : 300
/** As many as it can tell, so that no frame of the long form shows the number of another. */
const NUMBERS = 2 ** numbered.bits
const TICKS_PER_FRAME = 90_000 / numbered.fps

let watched: WatchedAppliance
let appliance: Appliance
let video: string
let browser: Browser

beforeAll(async () => {
  watched = await startWatchedAppliance(NUMBERS)
  ;({ appliance, browser, video } = watched)
}, 120_000)
afterAll(async () => {
  // It may have been started anew on the same data.
  await appliance.stop()
  await watched.remove()
})

/** Makes the numbered video the appliance's only source and opens the page on it. */
async function watchNumbers(rate?: number): Promise<Page> {
  await engineOf(appliance).deploy([
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

describe('the live page', () => {
  it(`lays boxes on exactly the frame that they belong to, through ${FRAMES} frames`, async () => {
    const page = await watchNumbers()
    const samples = await samplesUntil(page, FRAMES, ({ exact }) => exact, 300_000)

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

  it('shows the latest analysed frame where not every frame is analysed, and never a later one', async () => {
    const page = await watchNumbers(5)
    const samples = await samplesUntil(page, 50, ({ exact, objects }) => !exact && objects > 0)
    for (const { exact, objects, pts, metadataPts } of samples) {
      if (objects > 0 && !exact) expect(metadataPts).toBeLessThan(pts)
    }
  }, 120_000)

  it('tells a lost source from others, says in full what is wrong, and calls the page what it shows', async () => {
    const door = { name: 'door', coords: [0, 1].map(x => ({ x, y: 0.5 })) }
    await engineOf(appliance).deploy([
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
    const asked: string[] = []
    page.on('request', request => asked.push(request.url()))
    const lost = page.getByRole('link', { name: 'source lost' })
    expect(await lost.locator('.name').getAttribute('title')).toMatch(/^127\.0\.0\.1:9.*a-long-way\/$/)
    await lost.click()
    await page.getByRole('alert').getByText('The source sends no picture').waitFor()
    await expect.poll(() => page.title(), { timeout: 30_000 }).toMatch(/^127\.0\.0\.1:9.* – Eyrie$/)

    const reason = page.locator('.reason')
    expect(await reason.textContent()).toMatch(/^Attempt \d+ failed, .*check that the camera is on/)
    expect(await reason.evaluate(element => element.scrollWidth - element.clientWidth)).toBe(0)
    await page.getByRole('region', { name: 'Counts' }).getByRole('heading', { name: 'door' }).waitFor()
    expect(asked.filter(url => url.endsWith('snapshot.jpg'))).toEqual([])
  }, 120_000)

  it('hands no token to the browser', async () => {
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

  it('comes back by itself when the whole appliance is started anew', async () => {
    const page = await watchNumbers()
    await samplesUntil(page, 1, ({ exact }) => exact)
    await appliance.stop()
    await page.getByText('retrying').first().waitFor()
    await page.getByText('What it said last is shown below').waitFor()

    appliance = await startAppliance({
      environment: {
        EYRIE_DATA: appliance.data,
        EYRIE_PLUGINS: readingPlugins,
        EYRIE_MANAGEMENT_PORT: new URL(appliance.consoleUrl).port,
      },
    })
    // How long it takes to start is not the page's doing.
    await appliance.printed(/ready: open/)
    await expect.poll(() => page.getByText('retrying').count(), { timeout: 40_000 }).toBe(0)
    const exact = (await samplesUntil(page, 20, ({ exact }) => exact)).filter(({ exact }) => exact)
    for (const { boxes } of exact) expect(boxes).toEqual({ own: true, before: false, after: false })
  }, 120_000)
})
