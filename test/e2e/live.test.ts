import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { communityLicense } from '@eyrie/contract'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Appliance, startAppliance } from '../fixtures/appliance.ts'
import { openBrowser } from '../fixtures/browser.ts'
import { engineOf } from '../fixtures/engine-api.ts'
import { numbered, placeOf, writeNumberedVideo } from '../fixtures/numbered-video.ts'

const plugins = [
  join(import.meta.dirname, '../../plugins'),
  join(import.meta.dirname, '../fixtures/plugins'),
].join(':')

/** What the page shows at one moment: its picture, read by its pixels, and what it says of it. */
interface Sample {
  number: number
  pts: number
  metadataPts: number
  exact: boolean
  objects: number
  frames: number
  /** Whether a box is drawn where only this picture's number has one, and none where its neighbours have theirs. */
  boxes: { own: boolean; before: boolean; after: boolean }
}

let appliance: Appliance
let video: string
let browser: Browser

beforeAll(async () => {
  browser = await openBrowser()
  appliance = await startAppliance({
    args: ['--source', 'test://ball'],
    environment: { EYRIE_PLUGINS: plugins },
  })
  await appliance.printed(/ready: open/)
  await engineOf(appliance).activate(communityLicense)
  video = join(appliance.data, 'media/numbers.mp4')
  mkdirSync(dirname(video), { recursive: true })
  await writeNumberedVideo(video, 500)
}, 120_000)
afterAll(async () => {
  await browser.close()
  await appliance.remove()
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

const sample = (page: Page): Promise<Sample> =>
  page.locator('.stage').evaluate(
    (stage, { width, height, bits, block, places }) => {
      const [picture, overlay] = stage.querySelectorAll('canvas')
      const pixel = (canvas: typeof picture, x: number, y: number) =>
        canvas
          .getContext('2d')
          .getImageData(Math.round(x * canvas.width), Math.round(y * canvas.height), 1, 1).data
      const bit = (i: number) => pixel(picture, ((i + 0.5) * block) / width, block / 2 / height)[0] > 128
      const number = Array.from({ length: bits }, (_, i) => (bit(i) ? 2 ** i : 0)).reduce((a, b) => a + b)
      const hasBox = (n: number) => {
        const { x, y, h } = places[(n + places.length) % places.length]!
        return pixel(overlay, x, y + h / 2)[3] > 0
      }
      const { pts, metadataPts, exact, objects, frames } = overlay.dataset
      return {
        number,
        pts: Number(pts),
        metadataPts: Number(metadataPts),
        exact: exact === 'true',
        objects: Number(objects),
        frames: Number(frames),
        boxes: { own: hasBox(number), before: hasBox(number - 1), after: hasBox(number + 1) },
      }
    },
    { ...numbered, places: Array.from({ length: 32 }, (_, number) => placeOf(number)) },
  )

/** Looks at the page until `count` samples are what is asked for; every sample is kept. */
async function samplesUntil(
  page: Page,
  count: number,
  wanted: (sample: Sample) => boolean,
): Promise<Sample[]> {
  const samples: Sample[] = []
  const enough = async () => {
    samples.push(await sample(page))
    return samples.filter(wanted).length
  }
  await expect.poll(enough, { timeout: 60_000, interval: 20 }).toBeGreaterThanOrEqual(count)
  return samples
}

describe('the live page', () => {
  it('lays boxes on exactly the frame that they belong to, while the video advances', async () => {
    const page = await watchNumbers()
    const samples = await samplesUntil(page, 100, ({ exact }) => exact)

    const exact = samples.filter(({ exact }) => exact)
    expect(new Set(exact.map(({ number }) => number)).size).toBeGreaterThan(20)
    for (const { number, pts, metadataPts, boxes } of exact) {
      expect({ number, boxes }).toEqual({ number, boxes: { own: true, before: false, after: false } })
      expect(metadataPts).toBe(pts)
    }
    const frames = samples.map(({ frames }) => frames)
    expect(frames).toEqual(frames.toSorted((a, b) => a - b))
  }, 120_000)

  it('shows the latest analysed frame where not every frame is analysed, and never a later one', async () => {
    const page = await watchNumbers(5)
    const samples = await samplesUntil(page, 50, ({ exact, objects }) => !exact && objects > 0)
    for (const { exact, objects, pts, metadataPts } of samples) {
      if (objects > 0 && !exact) expect(metadataPts).toBeLessThan(pts)
    }
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
    await expect.poll(() => received.some(text => text.includes('"kind":"frame"'))).toBe(true)
    expect(appliance.token).not.toBe('')
    for (const text of received) expect(text).not.toContain(appliance.token)
  }, 60_000)

  it('comes back by itself when the whole appliance is started anew', async () => {
    const page = await watchNumbers()
    await samplesUntil(page, 1, ({ exact }) => exact)
    await appliance.stop()
    await page.getByText('retrying').first().waitFor()

    appliance = await startAppliance({
      environment: {
        EYRIE_DATA: appliance.data,
        EYRIE_PLUGINS: plugins,
        EYRIE_MANAGEMENT_PORT: new URL(appliance.consoleUrl).port,
      },
    })
    await expect.poll(() => page.getByText('retrying').count(), { timeout: 40_000 }).toBe(0)
    const exact = (await samplesUntil(page, 20, ({ exact }) => exact)).filter(({ exact }) => exact)
    for (const { boxes } of exact) expect(boxes).toEqual({ own: true, before: false, after: false })
  }, 120_000)
})
